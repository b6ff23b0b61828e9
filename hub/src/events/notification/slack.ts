/** slack and discord, which takes Slack's messages at an address of its own. */
import { type FluxEvent, objectName } from "./event.ts";
import {
  type BuildDelivery,
  type ProviderSettings,
  post,
  send,
  sortedMetadata,
} from "./provider-contract.ts";

/** It answers 200 whatever came of it. */
const slackApi = "https://slack.com/api/chat.postMessage";

export const slack: BuildDelivery = (event, settings) => {
  const { address, token } = settings;
  const request = post(
    address,
    message(event, settings),
    token === "" ? {} : { authorization: `Bearer ${token}` },
  );
  return send(address.href === slackApi ? { ...request, problem: slackProblem } : request);
};

export const discord: BuildDelivery = (event, settings) => {
  const url = new URL(settings.address);
  if (!url.pathname.endsWith("/slack")) url.pathname = `${url.pathname.replace(/\/$/, "")}/slack`;
  return send(post(url, message(event, { ...settings, channel: "" })));
};

function message(event: FluxEvent, { channel, username }: ProviderSettings): unknown {
  const text = event.message;
  return {
    channel,
    username: username || event.reportingController,
    icon_url: "",
    icon_emoji: ":rocket:",
    attachments: [
      {
        fallback: `${objectName(event)}: ${text}`,
        color: event.severity === "error" ? "danger" : "good",
        author_name: objectName(event),
        text,
        mrkdwn_in: ["text"],
        fields: sortedMetadata(event).map(([title, value]) => ({ title, value, short: false })),
      },
    ],
  };
}

function slackProblem(body: string): string | undefined {
  try {
    const answer = JSON.parse(body) as { readonly ok?: unknown; readonly error?: unknown };
    if (answer.ok === true) return undefined;
    // A word such as channel_not_found.
    const why = typeof answer.error === "string" && /^\w{1,64}$/.test(answer.error);
    return `Slack rejected the message${why ? `: ${String(answer.error)}` : ""}`;
  } catch {
    return "the answer of Slack is not JSON";
  }
}
