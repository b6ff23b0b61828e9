/** Rollouts that go on only when somebody decides, those that have waited longest first. */
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { type AwaitedDecision, objectKey } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";

const firstShown = 10;

export function DecisionsPanel({ decisions }: { readonly decisions: readonly AwaitedDecision[] }) {
  const [length, setLength] = useParameter("decisions", "");
  const shown = length === "all" ? decisions : decisions.slice(0, firstShown);
  const more = decisions.length - shown.length;
  return (
    <section className="card" aria-labelledby="decisions-title">
      <h2 id="decisions-title">Needs a decision</h2>
      <ul className="concerns">
        {shown.map(({ app, message, since }) => (
          <li key={objectKey(app)} className="concern">
            <div className="concern-what">
              <Link href={pageOf(app)}>
                <span className="soft">{app.kind}</span> <strong>{app.name}</strong>{" "}
                <span className="soft">in {app.namespace}</span>
              </Link>
              {since !== undefined && (
                <span className="soft concern-since">
                  since <Ago at={since} style="age" />
                </span>
              )}
            </div>
            <p>
              <Message text={message} />
            </p>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className="button" onClick={() => setLength("all")}>
          Show {more.toLocaleString("en")} more
        </button>
      )}
    </section>
  );
}
