/**
 * In place of a page that fails. Parts of a page are files of the hub's version: after an upgrade of the hub those of the version
 * before are gone, so the page is loaded again, once.
 */
import { Component, type ReactNode } from "react";

export interface FailedPageProps {
  readonly children: ReactNode;
  /** The address of the page: the failure of one says nothing about another. */
  readonly location: string;
  /** Loads the whole page again; returns whether it does. */
  readonly reload: () => boolean;
}

interface State {
  readonly error?: unknown;
  readonly location: string;
}

export class FailedPage extends Component<FailedPageProps, State> {
  override state: State = { location: this.props.location };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps({ location }: FailedPageProps, state: State): State {
    return location === state.location ? state : { location };
  }

  override componentDidCatch(error: unknown): void {
    if (isMissingPart(error) && this.props.reload()) return;
    console.error(error);
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
          Load again
        </button>
      </div>
    );
  }
}

/** As browsers say it; each has other words. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof TypeError && /dynamically imported module|module script/i.test(error.message)
  );
}

const reloadedKey = "flotilla-reloaded-at";
/** Not again and again, while the hub does not have the part. */
const pauseMs = 60_000;

export function reloadOnce(): boolean {
  const lastMs = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - lastMs < pauseMs) return false;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  window.location.reload();
  return true;
}
