/** msteams: an Adaptive Card, or a MessageCard for addresses of the connectors that Microsoft retires. */
import { type FluxEvent, objectName } from "./event.ts";
import { type BuildDelivery, post, send, sortedMetadata } from "./provider-contract.ts";

export const msteams: BuildDelivery = (event, { address }) =>
  send(post(address, isConnector(address) ? messageCard(event) : adaptiveCard(event)));

function isConnector({ hostname }: URL): boolean {
  return hostname.endsWith(".webhook.office.com");
}

function adaptiveCard(event: FluxEvent): unknown {
  const facts = sortedMetadata(event).map(([title, value]) => ({ title, value }));
  const text = { type: "TextBlock", text: event.message, wrap: true };
  const body = [
    {
      type: "TextBlock",
      text: objectName(event),
      size: "large",
      weight: "bolder",
      wrap: true,
    },
    event.severity === "error" ? { ...text, color: "attention" } : text,
    ...(facts.length > 0 ? [{ type: "FactSet", facts }] : []),
  ];
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body,
        },
      },
    ],
  };
}

function messageCard(event: FluxEvent): unknown {
  return {
    "@type": "MessageCard",
    "@context": "http://schema.org/extensions",
    themeColor: event.severity === "error" ? "FF0000" : "0076D7",
    summary: objectName(event),
    sections: [
      {
        activityTitle: event.message,
        activitySubtitle: objectName(event),
        facts: sortedMetadata(event).map(([name, value]) => ({ name, value })),
      },
    ],
  };
}
