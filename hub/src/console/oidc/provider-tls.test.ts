/** A provider whose certificate is of an authority that the system does not know. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueTestCertificate, send, startTestServer } from "@flotilla/shared/source/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createOidcLogin } from "./oidc-login.ts";

test("a provider is trusted with its authority, and the message says where that is set", async (t) => {
  const certificate = await issueTestCertificate();
  const server = await startTestServer(
    (_request, response) => {
      const { origin } = server;
      const body = { issuer: origin, authorization_endpoint: `${origin}/auth` };
      response.setHeader("content-type", "application/json");
      send(response, 200, JSON.stringify(body));
    },
    { certificate },
  );
  const dir = await mkdtemp(join(tmpdir(), "flotilla-oidc-"));
  t.onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  const caFile = join(dir, "ca.crt");
  await writeFile(caFile, certificate.caPem);

  async function begin(authorities: { readonly caFile?: string }) {
    const login = createOidcLogin({
      config: {
        ...{ issuer: server.origin, clientId: "flotilla", clientSecretFile: join(dir, "none") },
        ...{ scopes: ["openid"], usernameClaim: "sub", usernamePrefix: "", groupsClaim: "" },
        ...{
          groupsPrefix: "",
          allowedGroups: [],
          dashboardUrl: "https://flotilla.example.com",
          sessionMs: 60_000,
        },
        ...authorities,
      },
      ...{ userAgent: "test", egress: { allowLoopback: true }, clock: createFakeClock() },
    });
    try {
      return await login.begin();
    } finally {
      await login.close();
    }
  }

  const { address } = await begin({ caFile });
  assert.equal(address.origin, server.origin);
  await assert.rejects(begin({}), {
    code: "OIDC_UNAVAILABLE",
    message: /x509: .*: add the authority to the file of --oidc-ca-file \(dashboard\.oidc\.ca of/,
  });
  await assert.rejects(begin({ caFile: join(dir, "none") }), {
    code: "OIDC_UNAVAILABLE",
    message: /^the hub cannot read the file .*none/,
  });
});
