/**
 * In which forms Policies judge an address or a path: requests go to what a URL parser makes of it, which may be something else than
 * what a pattern sees. Pure.
 */

/** Encoded more often, it is a name on any server. */
const decodings = 2;

/**
 * The forms that have to be allowed each, the text first. Undefined: it has `..` in it, also encoded, so that it leads to another place
 * than it names; who decodes it when is up to the server.
 */
export function judgedForms(text: string): readonly string[] | undefined {
  if (climbs(text)) return undefined;
  const href = text.includes("://") ? URL.parse(text)?.href : undefined;
  if (href === undefined || withoutSlash(href) === withoutSlash(text)) return [text];
  return [text, /\/[?#]?$/.test(text) ? href : withoutSlash(href)];
}

function climbs(text: string): boolean {
  let decoded = text;
  for (let round = 0; round <= decodings; round += 1) {
    // A URL parser skips them.
    const path = decoded.replace(/[\t\r\n]/g, "");
    if (path.split(/[/\\?#]/).includes("..")) return true;
    decoded = path.replace(/%(2e|2f|5c|25|09|0a|0d)/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return false;
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}
