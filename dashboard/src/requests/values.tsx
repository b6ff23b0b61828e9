/** The values of the release in this cluster, each with its origin. */
import { useState } from "react";
import { entriesOf } from "../api/index.ts";
import { CheckField, SearchField } from "../field/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { useAnswer } from "./answer.ts";
import { Shown } from "./shown.tsx";
import { isShown, originText, type ReleaseValue, valueText } from "./value-texts.ts";
import "./values.css";

export interface ValuesProps {
  /** The path of the release in the API. */
  readonly path: string;
  /** Another text when they have to be read again. */
  readonly change?: string;
}

export function Values({ path, change = "" }: ValuesProps) {
  const [text, setText] = useState("");
  const [isWithChart, setWithChart] = useState(false);
  const answer = useAnswer(`${path}/values`, change);
  const all = entriesOf<ReleaseValue>(answer.text);
  const shown = all.filter((value) => isShown(value, { text, isWithChart }));
  const ofChart = all.filter(({ origin }) => origin.kind === "chart").length;
  return (
    <>
      <div className="panel-head">
        <SearchField
          name="Search in the values"
          placeholder="Search in the values"
          value={text}
          onChange={setText}
        />
        <CheckField
          name={`with ${ofChart} defaults of the chart`}
          checked={isWithChart}
          onChange={setWithChart}
        />
      </div>
      <Shown answer={answer}>
        {answer.isComplete && answer.problem === undefined && shown.length === 0 && (
          <p>
            {all.length === ofChart ? "Nothing overrides the chart's defaults." : "None found."}
          </p>
        )}
        {shown.length > 0 && (
          <section className="values" aria-label="Values of the release" {...scrollRegion}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col">Value</th>
                  <th scope="col">Origin</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((value) => (
                  <tr key={value.path}>
                    <th scope="row">
                      <code>{value.path}</code>
                    </th>
                    <td>
                      <code>{valueText(value)}</code>
                    </td>
                    <td>{originText(value.origin)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Shown>
    </>
  );
}
