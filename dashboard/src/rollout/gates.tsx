/** Gates: as a lock between two stages, and, while somebody has to decide, with all that the decision is about. */
import type { AppRef, RolloutGate } from "@flotilla/shared/dashboard";
import { CopyButton, Fact, Facts } from "../detail/index.ts";
import { plural } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";
import { RolloutActions, type RolloutActionsProps } from "./actions.tsx";
import { ClusterNames } from "./clusters.tsx";
import { GatePlan } from "./plan.tsx";
import { number, questionOf, resultWord, shortDigest } from "./words.ts";

const lockTones = { Waiting: "warn", Passed: "good", Failed: "bad" } as const;

/** Closed, open, or crossed out: colour alone says nothing to some. */
const shackles = {
  Waiting: "M5 7V5a3 3 0 0 1 6 0v2",
  Passed: "M5 7V5a3 3 0 0 1 5.8-1",
  Failed: "M5 7V5a3 3 0 0 1 6 0v2M5.5 9l5 4M10.5 9l-5 4",
} as const;

function Lock({ result, startedAt }: Pick<RolloutGate, "result" | "startedAt">) {
  const tone = startedAt === undefined ? "off" : lockTones[result];
  return (
    <svg className={`state-icon tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={`M3 7h10v7.5H3z${shackles[result]}`} />
    </svg>
  );
}

export function GateList({
  gates,
  stage,
}: {
  readonly gates: readonly RolloutGate[];
  readonly stage: string;
}) {
  return (
    <ul className="stage-gates">
      {gates.map((gate) => (
        <li key={gate.name} className="stage-gate">
          <span className="stage-gate-name">
            <Lock {...gate} /> <strong>{gate.name}</strong>
          </span>
          <span className="soft">
            {gate.type}, {resultWord(gate)}
            {gate.result === "Waiting" && gate.startedAt !== undefined && (
              <>
                {" "}
                <Ago at={gate.startedAt} style="age" />
              </>
            )}
          </span>
          {gate.decision === undefined ? (
            <span>{questionOf(gate, stage)}</span>
          ) : (
            <span>
              <Decided {...gate.decision} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Who decided, and why. */
export function Decided({ by, verified, message, at }: NonNullable<RolloutGate["decision"]>) {
  return (
    <>
      {by !== "" && (
        <>
          by {by}
          {!verified && " (not verified)"},{" "}
        </>
      )}
      <Ago at={at} />
      {message !== undefined && (
        <>
          : <Message text={message} />
        </>
      )}
    </>
  );
}

export interface GateDecisionProps {
  readonly app: AppRef;
  readonly stage: string;
  readonly gate: RolloutGate;
  readonly target: RolloutActionsProps["target"];
}

/** A gate that somebody has to decide. */
export function GateDecision({ app, stage, gate, target }: GateDecisionProps) {
  const { name, gate: object, uid, digest, clusters, plan, config, expiresAt, actions } = gate;
  if (object === undefined || uid === undefined || digest === undefined) return null;
  const id = `gate-${object}`;
  return (
    <section className="decision" aria-labelledby={id}>
      <div className="decision-head">
        <h3 id={id}>
          <Lock {...gate} /> {name}: {questionOf(gate, stage)}
        </h3>
        <RolloutActions
          actions={actions}
          target={{ ...target, gate: { name: object, uid, digest } }}
        />
      </div>
      <Facts>
        {clusters !== undefined && clusters.count > 0 && (
          <Fact name={plural(clusters.count, "cluster")}>
            <ClusterNames app={app} {...clusters} />
          </Fact>
        )}
        {plan !== undefined && <Fact name="Plan">{planText(plan)}</Fact>}
        {Object.entries(config ?? {}).map(([key, text]) => (
          <Fact key={key} name={key}>
            <Message text={text} />
          </Fact>
        ))}
        <Fact name="Digest">
          <code>{shortDigest(digest)}</code> <CopyButton text={digest} what="the digest" />
        </Fact>
        {expiresAt !== undefined && (
          <Fact name="Fails">
            without a decision <Ago at={expiresAt} style="due" />
          </Fact>
        )}
      </Facts>
      {plan !== undefined && <GatePlan app={app} gate={object} digest={digest} />}
    </section>
  );
}

function planText({
  groups,
  changed,
  unchanged,
  failing,
  offline,
}: NonNullable<RolloutGate["plan"]>) {
  const parts = [
    `${plural(groups, "group")} of changes in ${plural(changed, "cluster")}`,
    unchanged > 0 ? `none in ${number(unchanged)}` : "",
    failing > 0 ? `would fail in ${number(failing)}` : "",
    offline > 0 ? `${number(offline)} could not be asked` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}
