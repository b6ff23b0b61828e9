/** What a picture of clusters shows as a table, for keyboards and screen readers. */
import { stateOfColumn, useFleet } from "../fleet/index.ts";
import type { ClusterGroup } from "./groups.ts";
import "./group-table.css";

export interface GroupTableProps {
  readonly groups: readonly ClusterGroup[];
  readonly onZoom: (value: string) => void;
}

export function GroupTable({ groups, onZoom }: GroupTableProps) {
  const fleet = useFleet();
  return (
    <details className="group-table">
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Clusters</th>
            <th scope="col">Ready</th>
            <th scope="col">Offline</th>
            <th scope="col">Other</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ value, name, columns: members }) => {
            const states = members.map((column) => stateOfColumn(fleet, column));
            const ready = states.filter((state) => state === "Ready").length;
            const offline = states.filter((state) => state === "Offline").length;
            return (
              <tr key={value}>
                <th scope="row">
                  <button type="button" className="button" onClick={() => onZoom(value)}>
                    {name}
                  </button>
                </th>
                <td>{members.length}</td>
                <td>{ready}</td>
                <td>{offline}</td>
                <td>{members.length - ready - offline}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
