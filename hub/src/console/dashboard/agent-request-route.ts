/** What the agent of a cluster reads of a release: logs, diffs, histories and the like. */
import { keyOf } from "@flotilla/shared/kube/objects";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Access } from "../access/cached-access.ts";
import { forbidden, requestAttributes } from "../requests/access.ts";
import { parseBody } from "../requests/parse-request.ts";
import type { UserRequests } from "../requests/user-requests.ts";
import type { Api } from "./context.ts";
import { parameter, releaseOf } from "./parameters.ts";
import { serve } from "./respond.ts";
import type { ViewedResources } from "./viewed-resources.ts";

export interface AgentRequestRouteDeps {
  readonly access: Pick<Access, "may">;
  readonly resources: ViewedResources;
  readonly requests: Pick<UserRequests, "answer">;
}

export function agentRequestRoute(
  api: Api,
  { access, resources, requests }: AgentRequestRouteDeps,
): void {
  serve(api, "agentRequest", async (context) => {
    const { cluster, app } = releaseOf(context);
    resources.requireView(context, app.kind, app.namespace);
    const { user } = context.var.session;
    const body = parseBody(parameter(context, "request"), new URL(context.req.url).searchParams);
    await requests.answer(context.env.outgoing, async () => {
      if (!(await access.may(user, requestAttributes(app.namespace, body.kind))))
        throw forbidden(user, app.namespace, body.kind);
      const asked = { workspace: app.namespace, kind: app.kind, name: app.name };
      return { username: user.username, asked: { ...asked, cluster: keyOf(cluster), body } };
    });
    return RESPONSE_ALREADY_SENT;
  });
}
