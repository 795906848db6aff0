// Requests to the server; docs/api-web.md describes them.

export class ApiError extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

const TRIES = 6;

/** What every question asks for: forms with the marks that ordinary text leaves out. */
export const settings = { marks: false };

async function fetched(path, options, tries = TRIES) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is reinflect serve still running?");
  }
  let content;
  try {
    content = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(`The server's answer is not valid JSON (status ${response.status}).`);
  }
  if (content.code === "busy" && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after"))));
    return fetched(path, options, tries - 1);
  }
  if (!response.ok)
    throw new ApiError(content.error ?? `The server answered with status ${response.status}.`, content.field);
  return content;
}

const post = (path, body, signal) =>
  fetched(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, marks: settings.marks }),
    signal,
  });

export const models = () => fetched("/api/models");
export const model = (name) => fetched(`/api/models/${encodeURIComponent(name)}`);
export const reload = (body) => post("/api/reload", body);
export const nbest = (body, signal) => post("/api/nbest", body, signal);
export const paradigm = (body, signal) => post("/api/paradigm", body, signal);
export const rules = (body, signal) => post("/api/rules", body, signal);
export const lemmas = (body, signal) => post("/api/lemmas", body, signal);
export const trace = (body, signal) => post("/api/trace", body, signal);
export const batch = (body, signal) => post("/api/batch", body, signal);

/** The message for a request that failed; null if the page aborted it. Throws errors of the page itself. */
export function errorMessage(error) {
  if (error.name === "AbortError") return null;
  if (error instanceof ApiError) return error.message;
  throw error;
}

/** Makes a function that aborts the previous request and returns the signal of the next one. */
export function latest() {
  let controller = new AbortController();
  return () => {
    controller.abort();
    controller = new AbortController();
    return controller.signal;
  };
}
