/** The newest staged rollout of an app: what it waits for, its stages with their gates, what fails, and what can be done. */
import type { AppRef, Rollout, RolloutGate, RolloutStageView } from "@flotilla/shared/dashboard";
import { StateIcon } from "../badge/index.ts";
import { plural } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";
import { RolloutActions } from "./actions.tsx";
import { ClusterLink, ClusterNames } from "./clusters.tsx";
import { GateDecision, GateList } from "./gates.tsx";
import { Week } from "./week-view.tsx";
import { countsText, number, partsOf, phaseWords, stageWords } from "./words.ts";
import "./rollout.css";

export interface StagesPanelProps {
  readonly app: AppRef;
  readonly rollout: Rollout;
}

export function StagesPanel({ app, rollout }: StagesPanelProps) {
  const { name, uid, version, phase, message, since, stages, next, actions } = rollout;
  const { word, tone } = phaseWords(phase);
  const target = { namespace: app.namespace, rollout: name, uid };
  const undecided = stages.flatMap((stage) =>
    stage.gates
      .filter((gate) => gate.actions.length > 0)
      .map((gate) => ({ stage: stage.name, gate })),
  );
  const windows = stages.find((stage) => stage.windows.length > 0)?.windows ?? [];
  return (
    <section className="card" aria-labelledby="stages-title">
      <div className="stages-head">
        <h2 id="stages-title">Stages</h2>
        <span className={`state-badge tone-${tone}`}>
          <StateIcon tone={tone} />
          {word}
        </span>
        <span className="soft">
          {name}
          {version !== undefined && `, version ${version}`}, {countsText(rollout)}
        </span>
        <RolloutActions actions={actions} target={target} />
      </div>
      {message !== "" && (
        <p className="rollout-sentence">
          <strong>
            <Message text={message} />
          </strong>
          {since !== undefined && (
            <span className="soft">
              {" "}
              since <Ago at={since} style="age" />
            </span>
          )}
        </p>
      )}
      {next !== undefined && (
        <p className="soft">
          {next.version ?? "A newer revision"} waits for its end, since{" "}
          <Ago at={next.since} style="age" />.
        </p>
      )}
      <ol className="stages">
        {stages.map((stage) => (
          <Stage key={stage.name} stage={stage} />
        ))}
      </ol>
      {undecided.map(({ stage, gate }) => (
        <GateDecision
          key={`${stage} ${gate.name}`}
          app={app}
          stage={stage}
          gate={gate}
          target={target}
        />
      ))}
      <Troubles app={app} rollout={rollout} />
      {windows.length > 0 && (
        <section aria-labelledby="stage-windows-title">
          <h3 id="stage-windows-title">Windows that are waited for</h3>
          <Week windows={windows} />
        </section>
      )}
    </section>
  );
}

function Stage({ stage }: { readonly stage: RolloutStageView }) {
  const before = stage.gates.filter(({ when }) => when === "Before");
  const after = stage.gates.filter(({ when }) => when === "After");
  const { word, tone } = stageWords(stage.phase);
  return (
    <li className="stage">
      <Gates gates={before} stage={stage.name} />
      <div className="stage-body">
        <h3>{stage.name}</h3>
        <span className={`state-badge tone-${tone}`}>
          <StateIcon tone={tone} />
          {word}
        </span>
        <div className="stage-bar" aria-hidden="true">
          {partsOf(stage).map((part) => (
            <span
              key={part.name}
              className={`stage-part tone-${part.tone}`}
              style={{ flexGrow: part.count }}
            />
          ))}
        </div>
        <span className="soft">{countsText(stage)}</span>
      </div>
      <Gates gates={after} stage={stage.name} />
    </li>
  );
}

function Gates({
  gates,
  stage,
}: {
  readonly gates: readonly RolloutGate[];
  readonly stage: string;
}) {
  return gates.length === 0 ? null : <GateList gates={gates} stage={stage} />;
}

const missingWords = {
  offline: "offline",
  paused: "paused",
  offSchedule: "waits for a window",
} as const;

/** Clusters that fail, that are missing, that are in no stage, and that a rollback left as they are. */
function Troubles({ app, rollout }: StagesPanelProps) {
  const { stages, unassigned, kept } = rollout;
  const failing = stages.flatMap((stage) => stage.failing.map((each) => ({ ...each, stage })));
  const failed = stages.reduce((sum, stage) => sum + stage.failed, 0);
  const missing = stages.flatMap((stage) => stage.missing.map((each) => ({ ...each, stage })));
  return (
    <div className="troubles">
      {failing.length > 0 && (
        <section aria-labelledby="failing-title">
          <h3 id="failing-title">{plural(failed, "cluster")} failing</h3>
          <ul className="examples">
            {failing.slice(0, mostNamed).map(({ cluster, message, since, stage }) => (
              <li key={cluster}>
                <ClusterLink app={app} cluster={cluster} />{" "}
                <span className="soft">
                  in {stage.name}, since <Ago at={since} style="age" />
                </span>
                {message !== "" && (
                  <>
                    : <Message text={message} />
                  </>
                )}
              </li>
            ))}
            {failed > mostNamed && <li className="soft">and {number(failed - mostNamed)} more</li>}
          </ul>
        </section>
      )}
      {missing.length > 0 && (
        <section aria-labelledby="missing-title">
          <h3 id="missing-title">Missing</h3>
          <ul className="examples">
            {missing.slice(0, mostNamed).map(({ cluster, why, stage }) => (
              <li key={cluster}>
                <ClusterLink app={app} cluster={cluster} />{" "}
                <span className="soft">
                  in {stage.name}, {missingWords[why]}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {unassigned !== undefined && (
        <p>
          {plural(unassigned.count, "cluster")} in no stage:{" "}
          <ClusterNames app={app} {...unassigned} />
        </p>
      )}
      {kept !== undefined && (
        <p>
          {plural(kept.count, "cluster")} had nothing before and{" "}
          {kept.count === 1 ? "keeps" : "keep"} the revision: <ClusterNames app={app} {...kept} />
        </p>
      )}
    </div>
  );
}

const mostNamed = 10;
