/**
 * Who decides about a Gate is true: a ValidatingAdmissionPolicy, which the API server evaluates by itself, compares the name in a
 * decision with the user of the request. It needs Kubernetes 1.30, no webhook, and no process of ours. Installed with the CRDs.
 */
import { stringify } from "yaml";
import { gates } from "../index.ts";

const apiVersion = "admissionregistration.k8s.io/v1";

/** A check of requests, in CEL. */
interface Validation {
  readonly expression: string;
  readonly message: string;
  /** In place of `message`, with the names of the request. */
  readonly messageExpression?: string;
}

interface Metadata {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface ValidatingAdmissionPolicy {
  readonly apiVersion: typeof apiVersion;
  readonly kind: "ValidatingAdmissionPolicy";
  readonly metadata: Metadata;
  readonly spec: {
    readonly failurePolicy: "Fail";
    readonly matchConstraints: {
      readonly resourceRules: readonly {
        readonly apiGroups: readonly string[];
        readonly apiVersions: readonly string[];
        readonly operations: readonly string[];
        readonly resources: readonly string[];
      }[];
    };
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly Validation[];
  };
}

interface ValidatingAdmissionPolicyBinding {
  readonly apiVersion: typeof apiVersion;
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly metadata: Metadata;
  readonly spec: { readonly policyName: string; readonly validationActions: readonly "Deny"[] };
}

/** The name of the policy, and of its binding. */
export const gateDecisionPolicy = "gate-decisions.flotilla.dev";

const metadata = {
  name: gateDecisionPolicy,
  // Gates that are there must not become open to false names when the chart is uninstalled.
  annotations: { "helm.sh/resource-policy": "keep" },
} as const;

const user = "request.userInfo.username";

const mayApprove = [
  `authorizer.group('${gates.group}').resource('${gates.plural}').subresource('approve')`,
  ".namespace(object.metadata.namespace).name(object.metadata.name).check('update').allowed()",
].join("");

const policy: ValidatingAdmissionPolicy = {
  apiVersion,
  kind: "ValidatingAdmissionPolicy",
  metadata,
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [gates.group],
          apiVersions: [gates.version],
          // The API server drops a status that an object is created with.
          operations: ["UPDATE"],
          resources: [`${gates.plural}/status`],
        },
      ],
    },
    variables: [
      {
        name: "wasDecided",
        expression: "has(oldObject.status) && has(oldObject.status.decision)",
      },
      {
        name: "isDecided",
        expression: "has(object.status) && has(object.status.decision)",
      },
      { name: "decides", expression: "variables.isDecided && !variables.wasDecided" },
    ],
    validations: [
      {
        expression:
          "!variables.wasDecided || (variables.isDecided && object.status.decision == oldObject.status.decision)",
        message: "a decision cannot be changed or removed",
      },
      {
        expression: `!variables.decides || object.status.decision.by == ${user}`,
        message: "decision.by must be the name of the user that decides",
        messageExpression: `'decision.by must be ' + ${user}`,
      },
      {
        expression: `!variables.decides || object.spec.type != 'Approval' || ${mayApprove}`,
        message: "approvals need the right to update gates/approve",
        messageExpression: `${user} + ' has no right to update gates/approve in namespace ' + object.metadata.namespace`,
      },
    ],
  },
};

const binding: ValidatingAdmissionPolicyBinding = {
  apiVersion,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata,
  spec: { policyName: metadata.name, validationActions: ["Deny"] },
};

/** The policy and its binding, which puts it into effect. */
export const gateDecisionObjects = { policy, binding } as const;

/** Both as YAML documents. */
export function renderAdmission(): string {
  return [policy, binding].map((object) => stringify(object, { lineWidth: 120 })).join("---\n");
}
