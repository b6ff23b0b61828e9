/** The page of the dashboard to which a login leads: never another site, whatever the link to the login says. Pure. */

const start = "/";
const maxLength = 1_000;
/** Any origin: a path that leads away from it leads away from the hub. */
const origin = "http://hub.invalid";

/** `path`: with its query. The page that all begin with for anything but a page of the dashboard. */
export function returnPathOf(path: string | undefined): string {
  const url = path?.startsWith("/") === true ? URL.parse(path, origin) : null;
  if (url === null || url.origin !== origin) return start;
  const normalized = url.pathname + url.search;
  // A browser takes `//` for another host; an address of the API is no page.
  const isPage = !normalized.startsWith("//") && !/^\/api(\/|$)/.test(normalized);
  return isPage && normalized.length <= maxLength ? normalized : start;
}
