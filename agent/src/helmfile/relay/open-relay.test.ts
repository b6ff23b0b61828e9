/** The agent's end of the socket, with a program at the other end that may send anything: the author of the helmfile can. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, type TestContext, test } from "vitest";
import { type Frame, readFrames, writeFrame } from "./frames.ts";
import { type AnswerCommand, openRelay, type RelayCommand } from "./open-relay.ts";

const MiB = 1024 * 1024;

interface Program {
  readonly socket: Socket;
  send(text: unknown, payload?: Uint8Array): Promise<void>;
  /** Undefined once the agent has closed. */
  next(): Promise<Frame | undefined>;
}

interface OpenedRelay {
  readonly token: string;
  exceeded(): string | undefined;
  connect(): Program;
}

async function open(t: TestContext, answer: AnswerCommand, maxBytes = MiB): Promise<OpenedRelay> {
  const dir = await mkdtemp(join(tmpdir(), "relay-"));
  const path = join(dir, "relay");
  const relay = await openRelay({ path, answer, maxBytes });
  t.onTestFinished(async () => {
    await relay[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  return {
    token: relay.environment["FLOTILLA_RELAY_TOKEN"] ?? "",
    exceeded: () => relay.exceeded,
    connect() {
      const socket = connect(path);
      socket.on("error", () => undefined);
      const frames = readFrames(socket, { textBytes: MiB, admit: () => undefined });
      return {
        socket,
        send: (text, payload) => writeFrame(socket, text, payload),
        async next() {
          try {
            const { value } = await frames.next();
            return value ?? undefined;
          } catch {
            return undefined;
          }
        },
      };
    },
  };
}

const command = (token: string) => ({
  token,
  program: "helm",
  arguments: ["version", "--short"],
  directory: "/tree",
});

describe("a command", () => {
  test("is answered with an exit code, standard output and standard error", async (t) => {
    const commands: RelayCommand[] = [];
    const relay = await open(t, (asked) => {
      commands.push(asked);
      return Promise.resolve({ code: 3, stdout: "ü", stderr: "err" });
    });
    const program = relay.connect();

    await program.send(command(relay.token));
    const end = await program.next();

    assert.deepEqual(end?.text, { ask: "exit", code: 3, stdout: 2 });
    assert.equal(end.payload.toString(), "üerr");
    assert.deepEqual(commands, [
      { program: "helm", arguments: ["version", "--short"], directory: "/tree" },
    ]);
  });

  test("that cannot be carried out ends with code 1 and the reason", async (t) => {
    const relay = await open(t, () => Promise.reject(new Error("the chart is gone")));
    const program = relay.connect();

    await program.send(command(relay.token));
    const end = await program.next();

    assert.deepEqual(end?.text, { ask: "exit", code: 1, stdout: 0 });
    assert.equal(end.payload.toString(), "Error: the chart is gone\n");
  });

  test("has files and folders taken and put for it, by the program", async (t) => {
    const relay = await open(t, async (_, hands) => {
      const taken = await hands.take("/tree/a", 10);
      const folder = await hands.take("/tree/b", 10);
      const absent = await hands.take("/tree/c", 10);
      await hands.put("/tree/d", Buffer.from("new"));
      const code = await hands.execute("/bin/helm", ["template"]);
      return { code: 0, stdout: JSON.stringify([taken, folder, absent, code]) };
    });
    const program = relay.connect();

    await program.send(command(relay.token));
    const asked: unknown[] = [];
    const replies: readonly (readonly [unknown, string])[] = [
      [{ kind: "file" }, "bytes"],
      [{ kind: "folder" }, "tar"],
      [{ kind: "absent" }, ""],
      [{ kind: "done", code: 0 }, ""],
      [{ kind: "done", code: 7 }, ""],
    ];
    for (const [reply, payload] of replies) {
      const request = await program.next();
      asked.push([request?.text, request?.payload.toString()]);
      await program.send(reply, Buffer.from(payload));
    }
    const end = await program.next();

    assert.deepEqual(asked, [
      [{ ask: "take", path: "/tree/a", limit: 10 }, ""],
      [{ ask: "take", path: "/tree/b", limit: 10 }, ""],
      [{ ask: "take", path: "/tree/c", limit: 10 }, ""],
      [{ ask: "put", path: "/tree/d" }, "new"],
      [{ ask: "execute", program: "/bin/helm", arguments: ["template"] }, ""],
    ]);
    assert.deepEqual(JSON.parse(end?.payload.toString() ?? ""), [
      { kind: "file", bytes: { type: "Buffer", data: [...Buffer.from("bytes")] } },
      { kind: "folder", archive: { type: "Buffer", data: [...Buffer.from("tar")] } },
      null,
      7,
    ]);
  });

  test("ends with the program's own reason if it could not do what was asked", async (t) => {
    const relay = await open(t, async (_, hands) => {
      await hands.take("/etc/shadow", 10);
      return { code: 0 };
    });
    const program = relay.connect();

    await program.send(command(relay.token));
    await program.next();
    await program.send({ kind: "failed", why: "open /etc/shadow: permission denied" });

    assert.equal(
      (await program.next())?.payload.toString(),
      "Error: open /etc/shadow: permission denied\n",
    );
  });
});

describe("what no relay sends", () => {
  const never: AnswerCommand = () => assert.fail("it was answered");
  const answerOnce: AnswerCommand = async (_, hands) => {
    await hands.take("/a", 4);
    return assert.fail("it was believed");
  };

  const first: readonly (readonly [what: string, (token: string) => unknown])[] = [
    [
      "another token",
      (token) => command(token.replace(/.$/, (last) => (last === "0" ? "1" : "0"))),
    ],
    ["no token", () => ({ ...command(""), token: undefined })],
    ["a short token", (token) => command(token.slice(1))],
    ["another program", (token) => ({ ...command(token), program: "kubectl" })],
    ["arguments that are no texts", (token) => ({ ...command(token), arguments: [1] })],
    ["too many arguments", (token) => ({ ...command(token), arguments: Array(10_001).fill("") })],
    ["null", () => null],
  ];
  for (const [what, text] of first)
    test(`ends the connection without an answer: ${what}`, async (t) => {
      const relay = await open(t, never);
      const program = relay.connect();
      await program.send(text(relay.token));
      assert.equal(await program.next(), undefined);
    });

  const replies: readonly (readonly [what: string, unknown, string])[] = [
    ["another reply than was asked for", { kind: "done", code: 0 }, ""],
    ["more than was asked for", { kind: "file" }, "12345"],
    ["a reply that there is not", { kind: "link" }, ""],
  ];
  for (const [what, reply, payload] of replies)
    test(`ends the connection: ${what}`, async (t) => {
      const relay = await open(t, answerOnce);
      const program = relay.connect();
      await program.send(command(relay.token));
      await program.next();
      await program.send(reply, Buffer.from(payload));
      assert.equal(await program.next(), undefined);
    });

  test("is not read: a text or a payload that is too long, before any of it has come", async (t) => {
    const relay = await open(t, never);
    for (const [text, payload] of [
      [5 * MiB, 0],
      [2, 2 * MiB],
      [0xffffffff, 0xffffffff],
    ] as const) {
      const program = relay.connect();
      const head = Buffer.alloc(8);
      head.writeUInt32BE(text, 0);
      head.writeUInt32BE(payload, 4);
      program.socket.write(head);
      assert.equal(await program.next(), undefined);
    }
    assert.equal(relay.exceeded(), "sent more than 1 MiB to the agent");
  });

  test("is bounded over all connections of a run", async (t) => {
    const relay = await open(t, async (_, hands) => {
      await hands.take("/a", MiB);
      return { code: 0 };
    });
    const ends: unknown[] = [];
    for (let sent = 0; sent < 3; sent++) {
      const program = relay.connect();
      await program.send(command(relay.token));
      await program.next();
      // The agent closes the connection before it has come.
      await program.send({ kind: "file" }, Buffer.alloc(0.4 * MiB)).catch(() => undefined);
      ends.push((await program.next())?.text);
    }
    const end = { ask: "exit", code: 0, stdout: 0 };
    assert.deepEqual(ends, [end, end, undefined]);
    assert.equal(relay.exceeded(), "sent more than 1 MiB to the agent");
  });

  test("never stops the agent: random bytes", async (t) => {
    const relay = await open(t, () => Promise.resolve({ code: 0 }), 64 * MiB);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const program = relay.connect();
        program.socket.end(bytes);
        await program.next();
      }),
      { numRuns: 200 },
    );
    const program = relay.connect();
    await program.send(command(relay.token));
    assert.deepEqual((await program.next())?.text, { ask: "exit", code: 0, stdout: 0 });
  });
});
