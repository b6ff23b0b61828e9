/** What needs attention, the most harmful first: what, since when, why, what else it concerns, and what to do. */
import { isAppKind } from "@flotilla/shared/api/apps";
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { AdviceText, BlockedBy, Examples, ObjectLink } from "../detail/index.ts";
import {
  type Concern,
  concernTitle,
  type Harm,
  harms,
  type ObjectName,
  objectKey,
  plural,
} from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";

const firstShown = 10;

const harmWords: Readonly<Record<Harm, string>> = {
  down: "Down or unreachable",
  unchanged: "Runs, but not as desired",
  never: "Never deployed",
};

export function AttentionList({ concerns }: { readonly concerns: readonly Concern[] }) {
  // In the address, so that what was left is there after Back.
  const [length, setLength] = useParameter("concerns", "");
  const [harm, setHarm] = useParameter("harm", "");
  const chosen = harm === "" ? concerns : concerns.filter((each) => each.harm === harm);
  const shown = length === "all" ? chosen : chosen.slice(0, firstShown);
  return (
    <section className="card" aria-labelledby="attention-title">
      <div className="panel-head">
        <h2 id="attention-title">Needs attention</h2>
        <div className="choices">
          {harms.map((each) => {
            const count = concerns.filter((concern) => concern.harm === each).length;
            return count === 0 ? null : (
              <button
                key={each}
                type="button"
                className="button"
                aria-pressed={harm === each}
                onClick={() => setHarm(harm === each ? "" : each)}
              >
                {harmWords[each]} <strong>{count.toLocaleString("en")}</strong>
              </button>
            );
          })}
        </div>
      </div>
      {shown.length === 0 && <p className="soft">Nothing of that kind needs attention now.</p>}
      <ul className="concerns">
        {shown.map((concern) => (
          <ConcernItem key={objectKey(concern)} concern={concern} />
        ))}
      </ul>
      {chosen.length > shown.length && (
        <button type="button" className="button" onClick={() => setLength("all")}>
          Show {(chosen.length - shown.length).toLocaleString("en")} more
        </button>
      )}
    </section>
  );
}

function ConcernItem({ concern }: { readonly concern: Concern }) {
  const { kind, namespace, name, state, suspended, since, clusters, same, affected } = concern;
  const title = concernTitle(concern);
  return (
    <li className="concern">
      <div className="concern-what">
        <StateBadge state={state} suspended={suspended} />
        {title === undefined ? (
          <Link href={pageOf(concern)}>
            <span className="soft">{kind}</span> <strong>{name}</strong>{" "}
            <span className="soft">in {namespace}</span>
          </Link>
        ) : (
          <Link href={title.href}>
            <strong>{title.text}</strong> <span className="soft">in {namespace}</span>
          </Link>
        )}
        {same.length === 0 && clusters > 1 && (
          <span className="soft">{plural(clusters, "cluster")}</span>
        )}
        {since !== "" && (
          <span className="soft concern-since">
            since <Ago at={since} style="age" />
          </span>
        )}
      </div>
      <Why concern={concern} />
      <Named title="" objects={same} />
      <Named title={`${plural(affected.length, "app")} affected: `} objects={affected} />
      <AdviceText concern={concern} />
    </li>
  );
}

function Why({ concern }: { readonly concern: Concern }) {
  const { kind, namespace, name, message, examples, clusters, blocker } = concern;
  if (blocker !== undefined) return <BlockedBy concern={concern} />;
  if (isAppKind(kind) && examples.length > 0)
    return <Examples app={{ kind, namespace, name }} examples={examples} count={clusters} />;
  return message === "" ? null : (
    <p>
      <Message text={message} />
    </p>
  );
}

const firstNamed = 5;

function Named({
  title,
  objects,
}: {
  readonly title: string;
  readonly objects: readonly ObjectName[];
}) {
  if (objects.length === 0) return null;
  const more = objects.length - firstNamed;
  return (
    <p className="soft">
      {title}
      {objects.slice(0, firstNamed).map((object, index) => (
        <span key={objectKey(object)}>
          {index > 0 && ", "}
          <ObjectLink {...object} />
        </span>
      ))}
      {more > 0 && ` and ${more.toLocaleString("en")} more`}
    </p>
  );
}
