import assert from "node:assert/strict";
import { test } from "vitest";
import { chooseHub, type HubEnvironment, type HubOptions } from "./choose-hub.ts";

const home = { paths: ["/home/me/.kube/config"], isNamed: false };
const named = { paths: ["/a", "/b"], isNamed: true };

interface Row {
  readonly what: string;
  readonly options?: HubOptions;
  readonly environment?: Partial<HubEnvironment>;
  readonly expected: string;
}

const rows: readonly Row[] = [
  { what: "nothing", expected: "/home/me/.kube/config" },
  { what: "a local fleet", environment: { hasLocalFleet: true }, expected: "local /work hub" },
  { what: "KUBECONFIG", environment: { kubeconfig: named }, expected: "/a:/b" },
  {
    what: "KUBECONFIG beside a local fleet",
    environment: { kubeconfig: named, hasLocalFleet: true },
    expected: "/a:/b",
  },
  {
    what: "FLOTILLA_DIR beside KUBECONFIG",
    environment: { kubeconfig: named, isDirNamed: true },
    expected: "local /work hub",
  },
  {
    what: "--context beside a local fleet",
    options: { context: "prod" },
    environment: { hasLocalFleet: true },
    expected: "/home/me/.kube/config prod",
  },
  {
    what: "--context with FLOTILLA_DIR",
    options: { context: "cluster-1" },
    environment: { isDirNamed: true },
    expected: "local /work cluster-1",
  },
  {
    what: "--kubeconfig with FLOTILLA_DIR",
    options: { kubeconfig: "/k" },
    environment: { isDirNamed: true, hasLocalFleet: true },
    expected: "/k",
  },
  {
    what: "--local with KUBECONFIG",
    options: { local: true },
    environment: { kubeconfig: named },
    expected: "local /work hub",
  },
  {
    what: "--dir with KUBECONFIG",
    options: { dir: "/other" },
    environment: { kubeconfig: named },
    expected: "local /other hub",
  },
];

test.for(rows)(
  "where there is $what, the hub is $expected",
  ({ options = {}, environment = {}, expected }) => {
    const choice = chooseHub(options, {
      ...{ dir: "/work", isDirNamed: false, hasLocalFleet: false, kubeconfig: home },
      ...environment,
    });

    const what = choice.kind === "local" ? `local ${choice.dir}` : choice.paths.join(":");
    assert.equal([what, choice.context].filter((part) => part !== undefined).join(" "), expected);
  },
);
