/** grafana: an annotation. */
import { objectName } from "./event.ts";
import { type BuildDelivery, basic, post, send } from "./provider-contract.ts";

export const grafana: BuildDelivery = (event, settings) => {
  const { token, username, password, address } = settings;
  const { kind, name, namespace } = event.involvedObject;
  const pairs = [
    ...Object.entries(event.metadata ?? {}),
    ...Object.entries({ kind, name, namespace }),
  ];
  const body = {
    when: Math.floor(Date.parse(event.timestamp) / 1_000),
    text: objectName(event),
    tags: [
      "flux",
      event.reportingController,
      // Grafana splits a tag at the first colon.
      ...pairs.map(([key, value]) => `${withoutColons(key)}: ${withoutColons(value)}`),
    ],
  };
  const authorization =
    token !== "" ? `Bearer ${token}` : username !== "" && password !== "" ? basic(settings) : "";
  return send(post(address, body, authorization === "" ? {} : { authorization }));
};

function withoutColons(text: string): string {
  return text.replaceAll(":", "|");
}
