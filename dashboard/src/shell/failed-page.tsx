/**
 * In place of a page that fails. Parts of a page are files of the hub's version: after an upgrade of the hub the files of the version
 * before are gone, so the page is loaded again, once.
 */
import { Component, type ReactNode } from "react";

export interface FailedPageProps {
  readonly children: ReactNode;
  /** Loads the whole page again, if that can help. Never rejects. */
  readonly reload: () => Promise<void>;
}

interface State {
  readonly error?: unknown;
}

/** Needs a key for each page: the failure of one says nothing about another. */
export class FailedPage extends Component<FailedPageProps, State> {
  override state: State = {};

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    if (isMissingPart(error)) void this.props.reload();
    else console.error(error);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="card failure" role="alert">
        <h1>This page cannot be shown</h1>
        <p>
          {isMissingPart(error)
            ? "A part of the page could not be loaded from the hub: it does not answer, or it was upgraded."
            : `The page failed: ${error instanceof Error ? error.message : "see the browser's console"}`}
        </p>
        <button type="button" className="button" onClick={() => window.location.reload()}>
          Reload
        </button>
      </div>
    );
  }
}

/** As browsers say it, each in other words, and, of styles, the code that the build adds. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error &&
    // biome-ignore lint/plugin: what browsers print
    /dynamically imported module|module script|preload CSS/i.test(error.message)
  );
}

const reloadedKey = "flotilla-reloaded-at";
/** Not again and again, while the hub does not have the part. */
const pauseMs = 60_000;

/** Not while the hub does not answer: a browser would replace the page by an error of its own. */
export async function reloadOnce(): Promise<void> {
  const lastMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - lastMs < pauseMs) return;
  const answer = await fetch("/", { cache: "no-store" }).catch(() => undefined);
  if (answer?.ok !== true) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  window.location.reload();
}
