/** alertmanager: one alert that fires, and that Alertmanager resolves after its resolve_timeout. */
import { type BuildDelivery, basic, post, send } from "./provider-contract.ts";

/** Go's zero time: Alertmanager sets the end itself. */
const noTime = "0001-01-01T00:00:00Z";

export const alertmanager: BuildDelivery = (event, settings) => {
  const { involvedObject, severity, reason, reportingController, timestamp, message } = event;
  const { summary, ...metadata } = event.metadata ?? {};
  const { kind, name, namespace } = involvedObject;
  const alert = {
    status: "firing",
    labels: {
      ...labelsOf(metadata),
      alertname: `Flux${kind}${titleCase(reason)}`,
      severity,
      reason,
      kind,
      name,
      namespace,
      reportingcontroller: reportingController,
    },
    annotations: { message, ...(summary !== undefined && { summary }) },
    startsAt: timestamp,
    endsAt: noTime,
  };
  return send(post(settings.address, [alert], authorization(settings)));
};

function authorization(settings: Parameters<BuildDelivery>[1]): Readonly<Record<string, string>> {
  if (settings.username !== "" && settings.password !== "")
    return { authorization: basic(settings) };
  return settings.token === "" ? {} : { authorization: `Bearer ${settings.token}` };
}

/** Alertmanager rejects an alert with a label that is empty or has such a name. */
function labelsOf(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(metadata)
      .filter(([, value]) => value !== "")
      .map(([key, value]) => [key.replaceAll(/^[^a-zA-Z_]|[^a-zA-Z0-9_]/g, "_"), value] as const),
  );
}

/** `UpgradeFailed` becomes `Upgradefailed`, as in Flux. */
function titleCase(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`;
}
