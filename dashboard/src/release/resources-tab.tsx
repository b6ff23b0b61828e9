/** The objects of a release in the cluster as a graph; the one that says why it is not ready is chosen first. */
import { useMemo, useState } from "react";
import { StateIcon } from "../badge/index.ts";
import { plural } from "../fleet/index.ts";
import { Shown, useAnswer } from "../requests/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { Ago } from "../time/index.ts";
import { parseResources, type ResourceNode, toneOf, worstNode } from "./resources.ts";
import type { TabProps } from "./tab-props.ts";
import { layoutTree, nodeSize } from "./tree-layout.ts";
import "./resources-tab.css";

export interface ResourcesTabProps extends TabProps {
  /** Absent: the user may not read logs. */
  readonly openLogs?: ((pod: string) => void) | undefined;
}

export function ResourcesTab({ path, change, openLogs }: ResourcesTabProps) {
  const [attempt, setAttempt] = useState(0);
  const answer = useAnswer(`${path}/resources`, `${attempt} ${change}`);
  const tree = useMemo(() => parseResources(answer.text), [answer.text]);
  const layout = useMemo(() => layoutTree(tree.nodes), [tree]);
  const [chosenId, setChosen] = useState<string>();
  const chosen = tree.nodes.find(({ id }) => id === chosenId) ?? worstNode(tree);
  return (
    <Shown answer={answer}>
      <div className="resources">
        <section className="resources-scroll" aria-label="Objects of the release" {...scrollRegion}>
          <div
            className="resources-graph"
            style={{ inlineSize: layout.width, blockSize: layout.height }}
          >
            <svg
              className="resources-edges"
              width={layout.width}
              height={layout.height}
              aria-hidden="true"
            >
              {layout.edges.map(({ id, path: edge }) => (
                <path key={id} d={edge} />
              ))}
            </svg>
            {layout.nodes.map(({ node, x, y }) => (
              <button
                key={node.id}
                type="button"
                className={`resource tone-${toneOf(node.state)}`}
                aria-pressed={chosen?.id === node.id}
                style={{
                  insetInlineStart: x,
                  insetBlockStart: y,
                  inlineSize: nodeSize.width,
                  blockSize: nodeSize.height,
                }}
                onClick={() => setChosen(node.id)}
              >
                <StateIcon tone={toneOf(node.state)} />
                <span className="resource-text">
                  <strong>{node.kind}</strong> <span className="soft">{node.state}</span>
                  <br />
                  {node.name}
                </span>
              </button>
            ))}
          </div>
          {tree.more > 0 && <p className="soft">{plural(tree.more, "more object")} not shown.</p>}
        </section>
        {chosen !== undefined && <Chosen node={chosen} openLogs={openLogs} />}
      </div>
      <button type="button" className="button" onClick={() => setAttempt(attempt + 1)}>
        Refresh
      </button>
    </Shown>
  );
}

function Chosen({
  node,
  openLogs,
}: { readonly node: ResourceNode } & Pick<ResourcesTabProps, "openLogs">) {
  const { kind, namespace, name, state, message, createdAt, containers = [] } = node;
  return (
    <aside className="resource-detail" aria-label={`${kind} ${name}`}>
      <h3>
        {kind} {namespace === "" ? name : `${namespace}/${name}`}
      </h3>
      <p>
        {state}
        {createdAt !== undefined && (
          <>
            , created <Ago at={createdAt} />
          </>
        )}
      </p>
      {message !== undefined && <p>{message}</p>}
      {containers.map(
        ({ name: container, image, ready, restarts, state: own, reason, message: why, init }) => (
          <div key={container} className="resource-container">
            <strong>{container}</strong> {init === true && "(init) "}
            {own}
            {reason !== undefined && `: ${reason}`}
            {ready && ", ready"}
            {restarts > 0 && `, ${plural(restarts, "restart")}`}
            <div className="soft">{image}</div>
            {why !== undefined && <p>{why}</p>}
          </div>
        ),
      )}
      {kind === "Pod" && openLogs !== undefined && (
        <button type="button" className="button" onClick={() => openLogs(name)}>
          Logs of this pod
        </button>
      )}
    </aside>
  );
}
