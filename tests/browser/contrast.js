// The number of visible texts, and those whose contrast with their ground is below that of WCAG AA.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((own, place) => own * a + below[place] * (1 - a));
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const own = channels(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement));
  };
  const luminance = (colour) => {
    const linear = (own) => (own <= 0.04045 ? own / 12.92 : ((own + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((own) => linear(own / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  let seen = 0;
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
    if (!texts.length || !element.checkVisibility({ opacityProperty: true })) continue;
    let opacity = 1;
    for (let above = element; above; above = above.parentElement) opacity *= Number(getComputedStyle(above).opacity);
    const below = ground(element);
    const style = getComputedStyle(element);
    const [r, g, b, a] = channels(element.closest("svg") ? style.fill : style.color);
    const [one, other] = [luminance(over([r, g, b, a * opacity], below)), luminance(below)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    seen += 1;
    const name = `${element.tagName}.${element.className.baseVal ?? element.className}`;
    if (ratio < 4.5) poor.push(`${name} ${ratio.toFixed(2)} ${texts[0].textContent.trim()}`);
  }
  return [seen, poor];
}
