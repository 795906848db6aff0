// What is asked of the server; docs/api-web.md says what it answers.

export class ApiError extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

const TRIES = 6;

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
    throw new ApiError(`The server's answer cannot be read (${response.status}).`);
  }
  if (content.code === "busy" && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after"))));
    return fetched(path, options, tries - 1);
  }
  if (!response.ok) throw new ApiError(content.error ?? `The server said ${response.status}.`, content.field);
  return content;
}

const post = (path, body, signal) =>
  fetched(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

export const models = () => fetched("/api/models");
export const model = (name) => fetched(`/api/models/${encodeURIComponent(name)}`);
export const nbest = (body, signal) => post("/api/nbest", body, signal);
export const paradigm = (body, signal) => post("/api/paradigm", body, signal);
export const trace = (body, signal) => post("/api/trace", body, signal);
export const batch = (body, signal) => post("/api/batch", body, signal);

/** What to tell the user of a request that failed; nothing if it was we who ended it. Our own mistakes stay errors. */
export function complaint(error) {
  if (error.name === "AbortError") return null;
  if (error instanceof ApiError) return error.message;
  throw error;
}

/** Lets only the latest of several requests be answered: calling it ends the one before. */
export function latest() {
  let controller = new AbortController();
  return () => {
    controller.abort();
    controller = new AbortController();
    return controller.signal;
  };
}
