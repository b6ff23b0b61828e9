/** The values that a cluster gets, each with its origin: read by the agent of that cluster when somebody looks. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { useState } from "react";
import { useParameter } from "../address/index.ts";
import { objectKey, useFleet } from "../fleet/index.ts";
import { Values } from "../requests/index.ts";

export function ValuesPanel({ app }: { readonly app: AppRef }) {
  const { rows, columns } = useFleet();
  const row = rows.get(objectKey(app));
  const deployed = columns.filter((_, column) => (row?.states[column] ?? 0) !== 0);
  const [first = ""] = deployed;
  const [chosen, setChosen] = useParameter("values", "");
  const [isOpen, setOpen] = useState(chosen !== "");
  const cluster = deployed.includes(chosen) ? chosen : first;
  if (cluster === "") return null;
  const { kind, namespace, name } = app;
  return (
    <details className="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Effective values in a cluster</summary>
      {isOpen && (
        <>
          <label className="panel-head">
            Cluster{" "}
            <select value={cluster} onChange={(event) => setChosen(event.target.value)}>
              {deployed.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <Values
            key={cluster}
            path={`/api/v1/clusters/${cluster}/releases/${kind}/${namespace}/${name}`}
          />
        </>
      )}
    </details>
  );
}
