/** Addresses of repositories: how they are joined, compared and shown. Shown ones carry neither user nor query. */

const loopbackNames = new Set(["localhost", "[::1]"]);

/** The address as it may stand in a message: what could be a secret is left out. */
export function describeUrl(url: URL | string): string {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (parsed === null) return "an address that cannot be read";
  const query = parsed.search === "" ? "" : "?…";
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}${query}`;
}

/**
 * A reference in a repository's index as an absolute address, the way Helm does it: the repository counts as a
 * folder, and its query (a token, say) is kept. Undefined when it cannot be read.
 */
export function joinAddress(base: string, reference: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) {
    return URL.parse(reference) === null ? undefined : reference;
  }
  const folder = URL.parse(base);
  if (folder === null) return undefined;
  folder.pathname = `${folder.pathname.replace(/\/$/, "")}/`;
  const joined = URL.parse(reference, folder.href);
  if (joined === null) return undefined;
  joined.search = folder.search;
  return joined.href;
}

/** Whether what may be told to `home` may be told to `url`: the same origin, or the same host after an upgrade to TLS. */
export function isSameParty(home: URL, url: URL): boolean {
  if (home.origin === url.origin) return true;
  const upgraded = home.protocol === "http:" && url.protocol === "https:";
  return upgraded && home.port === "" && url.port === "" && home.hostname === url.hostname;
}

/** Whether a host (with or without a port) is this machine. */
export function isLoopback(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? "";
  return loopbackNames.has(name) || /^127\.\d+\.\d+\.\d+$/.test(name);
}
