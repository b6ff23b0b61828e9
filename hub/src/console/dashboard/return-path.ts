/** The page of the dashboard to which a login redirects: never another site, whatever the link to the login has. Pure. */

const start = "/";
const maxLength = 1_000;
/** Any origin: a path that resolves to another one leaves the hub. */
const origin = "http://hub.invalid";

/** `path`: with its query. Anything but a page of the dashboard becomes the overview. */
export function returnPathOf(path: string | undefined): string {
  const url = path?.startsWith("/") === true ? URL.parse(path, origin) : null;
  if (url === null || url.origin !== origin) return start;
  const normalized = url.pathname + url.search;
  // A browser takes `//` for another host; an address of the API is not a page.
  const isPage = !normalized.startsWith("//") && !/^\/api(\/|$)/.test(normalized);
  return isPage && normalized.length <= maxLength ? normalized : start;
}
