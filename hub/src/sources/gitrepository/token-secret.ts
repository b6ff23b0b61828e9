/** A Secret of a GitHub App as agents get it: with a token of its installation instead of the key. */
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { Clock } from "@flotilla/shared/time";
import type { ProjectSecret } from "../../rules/index.ts";
import {
  githubAppKeys,
  isGithubApp,
  type MintToken,
  renewBeforeMs,
  type SecretTexts,
} from "./github-app.ts";

/** The user name that GitHub has for tokens. */
const tokenUser = "x-access-token";
const retryMs = 60_000;

/** Replaces the keys of the App; all others stay. Pure. Without a token the agent's access fails, and says so. */
export function withToken(
  object: ReferencedObjectData,
  token: string | undefined,
): ReferencedObjectData {
  const kept = Object.entries(object.data ?? {}).filter(
    ([key]) => !(githubAppKeys as readonly string[]).includes(key),
  );
  const credentials: readonly (readonly [string, string])[] =
    token === undefined
      ? []
      : [
          ["username", base64(tokenUser)],
          ["password", base64(token)],
        ];
  return { ...object, data: Object.fromEntries([...kept, ...credentials]) };
}

export function textsOf({ data = {} }: ReferencedObjectData): SecretTexts {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]),
  );
}

/** For the objects that are sent to agents. Never rejects. */
export function createProjectSecret(deps: {
  readonly mint: MintToken;
  readonly clock: Clock;
  readonly log: Log;
}): ProjectSecret {
  return async (object) => {
    const texts = textsOf(object);
    if (!isGithubApp(texts)) return { object };
    try {
      const { token, endsAtMs } = await deps.mint(texts);
      const renewInMs = Math.max(retryMs, endsAtMs - renewBeforeMs - deps.clock.now());
      return { object: withToken(object, token), renewInMs };
    } catch (thrown) {
      deps.log.warn(
        { err: messageOf(thrown), retryMs },
        "cannot get a token of a GitHub App for agents; retrying",
      );
      return { object: withToken(object, undefined), renewInMs: retryMs };
    }
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
