/** The writing verbs of the Kubernetes API: create, replace, patch, delete. */
import { AppError } from "../../runtime/errors/index.ts";
import { apiVersionOf, type KubeObject, type Resource } from "../objects/index.ts";
import { kubeErrors } from "./errors.ts";
import { creationPath, describeObject, objectPath, withQuery } from "./request-path.ts";
import { isUnknownKind, type Origin, parseResponse, responseError } from "./response.ts";
import type { CallOptions, DeleteOptions, KubeRest, PatchBody, WriteOptions } from "./rest.ts";
import { type Call, type Sender, sendSuccessfully } from "./sender.ts";

const defaultFieldManager = "flotilla";

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  // JSON is YAML, too.
  apply: "application/apply-patch+yaml",
} as const;

export function writesOver(
  sender: Sender,
  origin: Origin,
): Pick<KubeRest, "create" | "replace" | "patch" | "delete"> {
  /** Returns the object of the response, which has the type of its resource. */
  async function write<T extends KubeObject>(resource: Resource<T>, call: Call): Promise<T> {
    const isSecret = resource.kind === "Secret";
    const response = await sendSuccessfully(sender, origin, call, isSecret);
    return parseResponse({ what: call.what, ...origin }, response) as T;
  }

  return {
    async create(resource, object, options = {}) {
      return write(resource, {
        what: `create ${describeObject(resource, object.metadata)}`,
        method: "POST",
        path: withQuery(creationPath(resource, object.metadata), writeQuery(options)),
        contentType: "application/json",
        body: bodyOf(resource, object),
        idempotent: false,
        options,
      });
    },

    async replace(resource, object, options = {}) {
      const what = `replace ${describeObject(resource, object.metadata)}`;
      if ((object.metadata.resourceVersion ?? "") === "") {
        throw new AppError(
          kubeErrors.KUBE_REQUEST,
          `${what}: it has no resourceVersion, so it could overwrite a newer one`,
        );
      }
      const path = objectPath(resource, object.metadata, options.subresource);
      return write(resource, {
        what,
        method: "PUT",
        path: withQuery(path, writeQuery(options)),
        contentType: "application/json",
        body: bodyOf(resource, object),
        idempotent: true,
        options,
      });
    },

    async patch(resource, ref, patch, options = {}) {
      const path = objectPath(resource, ref, options.subresource);
      return write(resource, {
        what: `patch ${describeObject(resource, ref)}`,
        method: "PATCH",
        path: withQuery(path, patchQuery(patch, options)),
        contentType: patchTypes[patch.type],
        body: JSON.stringify(patch.body),
        idempotent: patch.type === "apply",
        options,
      });
    },

    async delete(resource, ref, options = {}) {
      const what = `delete ${describeObject(resource, ref)}`;
      const response = await sender.send({
        what,
        method: "DELETE",
        path: withQuery(objectPath(resource, ref), { timeout: serverTimeout(options) }),
        contentType: "application/json",
        body: JSON.stringify(deleteBody(options)),
        idempotent: true,
        options,
      });
      if (response.status === 404 && !isUnknownKind(response)) return false;
      if (response.status >= 200 && response.status < 300) return true;
      throw responseError({ what, ...origin }, response);
    },
  };
}

/** The server rejects custom resources without their kind. */
function bodyOf(resource: Resource<KubeObject>, object: KubeObject): string {
  return JSON.stringify({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind });
}

function deleteBody({ uid, resourceVersion, propagation }: DeleteOptions) {
  const hasPreconditions = uid !== undefined || resourceVersion !== undefined;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: hasPreconditions ? { uid, resourceVersion } : undefined,
    propagationPolicy: propagation,
  };
}

function writeQuery(options: WriteOptions) {
  return {
    fieldManager: options.fieldManager,
    dryRun: options.dryRun === true ? "All" : undefined,
    timeout: serverTimeout(options),
  };
}

function patchQuery(patch: PatchBody, options: WriteOptions) {
  if (patch.type !== "apply") return writeQuery(options);
  return {
    ...writeQuery(options),
    fieldManager: options.fieldManager ?? defaultFieldManager,
    force: patch.force,
  };
}

/** So that the server does not execute a write after the client has stopped waiting. */
function serverTimeout(options: CallOptions): string | undefined {
  return options.timeoutMs === undefined
    ? undefined
    : `${Math.max(1, Math.floor(options.timeoutMs))}ms`;
}
