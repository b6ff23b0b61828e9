/** The first clusters of an app that are in its state: where, and why, each with a link to its release. */
import type { App, AppRef } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { releasePage } from "../address/index.ts";
import { Message } from "../message/index.ts";

export interface ExamplesProps {
  readonly app: AppRef;
  readonly examples: NonNullable<App["examples"]>;
  /** How many clusters are in that state, the shown ones included. */
  readonly count: number;
}

export function Examples({ app, examples, count }: ExamplesProps) {
  const more = count - examples.length;
  return (
    <ul className="examples">
      {examples.map(({ cluster, message = "" }) => (
        <li key={cluster}>
          <Link href={releasePage(cluster, app)}>{cluster.slice(cluster.indexOf("/") + 1)}</Link>
          {message !== "" && (
            <>
              : <Message text={message} />
            </>
          )}
        </li>
      ))}
      {more > 0 && <li className="soft">and {more.toLocaleString("en")} more</li>}
    </ul>
  );
}
