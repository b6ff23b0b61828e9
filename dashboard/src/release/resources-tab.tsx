/** The objects of a release in the cluster as a graph; the one that says why it is not ready is chosen first. */
import { useMemo, useState } from "react";
import { useParameter } from "../address/index.ts";
import { StateIcon } from "../badge/index.ts";
import { plural } from "../fleet/index.ts";
import { Shown, useAnswer } from "../requests/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { Ago } from "../time/index.ts";
import {
  addressOf,
  hookWords,
  parseResources,
  type ResourceNode,
  toneOf,
  worstNode,
} from "./resources.ts";
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
  const [chosenAddress, setChosen] = useParameter("object", "");
  const chosen = tree.nodes.find((node) => addressOf(node) === chosenAddress) ?? worstNode(tree);
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
                onClick={() => setChosen(addressOf(node))}
              >
                <StateIcon tone={toneOf(node.state)} />
                <span className="resource-text">
                  <strong>{node.kind}</strong>{" "}
                  <span className="soft">
                    {node.hook !== undefined &&
                      node.parent === undefined &&
                      `${hookWords(node.hook)}, `}
                    {node.state}
                  </span>
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
  const {
    kind,
    namespace,
    name,
    state,
    message,
    createdAt,
    containers = [],
    hook,
    conditions = [],
  } = node;
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
      {hook !== undefined && (
        <p>
          {node.parent === undefined ? "Runs as" : "Created by a"} {hookWords(hook)}, weight{" "}
          {hook.weight}
        </p>
      )}
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
      {conditions.length > 0 && (
        <ul className="resource-conditions" aria-label="Conditions">
          {conditions.map(({ type, status: is, reason, message: why, since }) => (
            <li key={type}>
              <strong>{type}</strong> {is}
              {reason !== undefined && `, ${reason}`}
              {since !== undefined && (
                <span className="soft">
                  {" "}
                  since <Ago at={since} style="age" />
                </span>
              )}
              {why !== undefined && <div>{why}</div>}
            </li>
          ))}
        </ul>
      )}
      {kind === "Pod" && openLogs !== undefined && (
        <button type="button" className="button" onClick={() => openLogs(name)}>
          Logs of this pod
        </button>
      )}
    </aside>
  );
}
