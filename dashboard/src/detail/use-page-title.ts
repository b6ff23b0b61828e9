/** The title of the page, by which tabs, bookmarks and the history are distinguished. */
import { useEffect } from "react";

const product = "Flotilla";

/** The most specific first: `web on paris`. "": the product alone. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? product : `${title} · ${product}`;
    return () => {
      document.title = product;
    };
  }, [title]);
}
