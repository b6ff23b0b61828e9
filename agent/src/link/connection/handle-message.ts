/** Passes the hub's messages on to the agent. Messages about one name are handled in order, others concurrently. */
import type { AgentMessage, DeploymentKey, HubMessage, SendQueue } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { StreamOutbox } from "../../observe/index.ts";
import type { Intake } from "../../state/index.ts";
import type { OpenRequests } from "../requests/open-requests.ts";
import type { KeyedTasks } from "./keyed-tasks.ts";

export interface MessageHandlerDeps {
  readonly intake: Intake;
  readonly outbox: StreamOutbox;
  readonly outgoing: SendQueue<AgentMessage>;
  readonly tasks: KeyedTasks;
  readonly requests: Pick<OpenRequests, "start" | "cancel">;
  readonly setAuthorities: (authoritiesPem: string) => Promise<void>;
  readonly log: Log;
}

/** For all messages after Welcome. */
export type HandleMessage = (message: Exclude<HubMessage, { kind: "welcome" }>) => void;

export function createMessageHandler(deps: MessageHandlerDeps): HandleMessage {
  const { intake, outbox, outgoing, tasks, log } = deps;

  function acknowledge(deployment: DeploymentKey, deploymentId?: string): void {
    outgoing.put(`received/${deployment.name}`, () => ({
      kind: "deploymentAck",
      deployment,
      ...(deploymentId !== undefined && { deploymentId }),
    }));
  }

  /** Once everything that was received before is handled. */
  async function afterTasks(synced: () => Promise<void>): Promise<void> {
    try {
      if (await tasks.idle()) await synced();
    } catch (thrown) {
      log.warn({ err: messageOf(thrown) }, "that the hub has sent everything is not stored yet");
    }
  }

  return function handle(message) {
    switch (message.kind) {
      case "deployment": {
        const { kind: _, ...assignment } = message;
        const { deployment, deploymentId } = assignment;
        tasks.add(deployment.name, async () => {
          if (await intake.assign(assignment)) acknowledge(deployment, deploymentId);
        });
        return;
      }
      case "withdrawal":
        tasks.add(message.deployment.name, async () => {
          if (await intake.withdraw(message.deployment, message)) acknowledge(message.deployment);
        });
        return;
      case "synced":
        if (message.orphans.length > 0) {
          log.warn(
            { orphans: message.orphans.slice(0, 10), count: message.orphans.length },
            "deployments are unknown to the hub, they keep running",
          );
        }
        outbox.attach(outgoing, intake.states());
        void afterTasks(intake.synced);
        return;
      case "stateAck":
        outbox.acknowledged(message.name, message.sequence);
        return;
      case "clusterInfo": {
        const { digest, content: bytes } = message;
        tasks.add(
          "cluster-info/",
          async () => void (await intake.setClusterInfo({ digest, bytes })),
        );
        return;
      }
      case "referencedObject":
        tasks.add(
          formatObjectRef(message.object),
          async () => void (await intake.setReferencedObject(message.object)),
        );
        return;
      case "referencedObjectWithdrawal":
        tasks.add(formatObjectRef(message.object), () =>
          intake.withdrawReferencedObject(message.object),
        );
        return;
      case "authorities":
        tasks.add("authorities/", () => deps.setAuthorities(message.pem));
        return;
      case "request": {
        const { kind: _, ...request } = message;
        deps.requests.start(request);
        return;
      }
      case "requestCancellation":
        deps.requests.cancel(message.id);
        return;
    }
  };
}
