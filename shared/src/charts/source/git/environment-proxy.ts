/** Which of the administrator's proxies a Git server is reached by. Pure. */
import type { ProxySettings } from "../transport/index.ts";
import type { GitProxy } from "./dial.ts";

/** SSH has no proxy in the environment. */
export function environmentProxy(
  url: URL,
  settings: ProxySettings | undefined,
): GitProxy | undefined {
  if (settings === undefined || isExcluded(url, settings.noProxy ?? "")) return undefined;
  const address =
    url.protocol === "https:"
      ? settings.httpsProxy
      : url.protocol === "http:"
        ? settings.httpProxy
        : undefined;
  return address === undefined ? undefined : { address, isTrusted: true };
}

/** As in other programs: `*`, a host, its domain with or without a dot, each with an optional port. */
function isExcluded({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const actualPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = entry, entryPort] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== actualPort) return false;
      const domain = name.toLowerCase().replace(/^\*?\./, "");
      return host === domain || host.endsWith(`.${domain}`);
    });
}
