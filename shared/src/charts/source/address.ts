/** Addresses of repositories: joining, comparing and describing them. Pure. */

const loopbackNames = new Set(["localhost", "[::1]"]);

/** The address for a message, without user, password and query, which may be secrets. */
export function describeUrl(url: URL | string): string {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (parsed === null) return "an invalid address";
  const query = parsed.search === "" ? "" : "?…";
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}${query}`;
}

/** Whether an address has a user, a password or a query: what `describeUrl` omits. */
export function mayHoldSecret(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== "" || url.password !== "" || url.search !== "");
}

/**
 * A reference in the index of a repository as an absolute address, as Helm resolves it: the repository is a folder, and its
 * query (such as a token) is kept. Undefined when it is invalid.
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

/** Whether credentials for `home` may be sent to `url`: the same origin, or the same host with HTTPS instead of HTTP. */
export function isSameParty(home: URL, url: URL): boolean {
  if (home.origin === url.origin) return true;
  const upgraded = home.protocol === "http:" && url.protocol === "https:";
  return upgraded && home.port === "" && url.port === "" && home.hostname === url.hostname;
}

/** Whether a host (with or without a port) is a loopback address. */
export function isLoopback(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? "";
  return loopbackNames.has(name) || /^127\.\d+\.\d+\.\d+$/.test(name);
}
