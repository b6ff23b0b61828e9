/** What can go wrong between the product and a Kubernetes API server. */
import { defineErrors } from "../../errors/app-error.ts";

export const kubeErrors = defineErrors({
  KUBE_UNREACHABLE: {
    retryable: true,
    help: "The Kubernetes API server did not answer in time, or the connection could not be made or broke. Check the address in the message, the network and the certificates; it is tried again by itself.",
  },
  KUBE_BAD_RESPONSE: {
    retryable: true,
    help: "The Kubernetes API server, or a proxy in front of it, sent something that is not what its API promises. The message shows what came.",
  },
  KUBE_UNAUTHORIZED: {
    retryable: true,
    help: "The API server did not accept the credentials. Renew the kubeconfig, the token or the client certificate.",
  },
  KUBE_FORBIDDEN: {
    retryable: true,
    help: "The API server refused the request. The message names the account and the permission that is missing; grant it with a Role or ClusterRole. It also says so for a namespace that is being deleted.",
  },
  KUBE_NOT_FOUND: {
    retryable: true,
    help: "The object, its namespace or its kind does not exist (yet). If it is a kind of this product, install the CRDs.",
  },
  KUBE_CONFLICT: {
    retryable: true,
    help: "Somebody else changed or created the object at the same time. It is read again and tried again by itself.",
  },
  KUBE_GONE: {
    retryable: true,
    help: "The API server no longer has the history that was asked for. Everything is listed anew by itself.",
  },
  KUBE_TOO_MANY_REQUESTS: {
    retryable: true,
    help: "The API server asks its clients to slow down. It is tried again after the time that it names.",
  },
  KUBE_INVALID: {
    retryable: false,
    help: "The API server refused the content of the request. The message names the field; the same request can never succeed.",
  },
  KUBE_SERVER: {
    retryable: true,
    help: "The API server failed inside, or one of its webhooks did. Look at its logs; it is tried again by itself.",
  },
  KUBE_REQUEST: {
    retryable: false,
    help: "The request could not even be made, for example because an object has no name. Please report it.",
  },
  KUBECONFIG_INVALID: {
    retryable: false,
    help: "The kubeconfig cannot be used. The message names the file and the field.",
  },
  KUBE_CREDENTIALS: {
    retryable: true,
    help: "Credentials for the API server could not be had: a token file could not be read, or the program that the kubeconfig names for them failed. The message says which and why.",
  },
  RECONCILE_TIMEOUT: {
    retryable: true,
    help: "One run of a control loop took longer than it may and was given up; it is tried again by itself.",
  },
  LEADERSHIP_LOST: {
    retryable: true,
    help: "This replica is no longer the leader, so it must not write. Another replica goes on with the work.",
  },
});
