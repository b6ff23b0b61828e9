/** Errors between the product and a Kubernetes API server. */
import { defineErrors } from "../../runtime/errors/index.ts";

export const kubeErrors = defineErrors({
  KUBE_UNREACHABLE: {
    retryable: true,
    help: "The Kubernetes API server did not respond in time, or the connection could not be opened or was cut. Check the address in the message, the network and the certificates; the request is retried.",
  },
  KUBE_BAD_RESPONSE: {
    retryable: true,
    help: "The Kubernetes API server, or a proxy in front of it, sent a response that is not of the Kubernetes API. The message says what it was.",
  },
  KUBE_RESPONSE_TOO_LARGE: {
    retryable: true,
    help: "The response of the Kubernetes API server is larger than what is read of it, because objects have very large labels, annotations or managed fields. The message says what was read; make them smaller.",
  },
  KUBE_UNAUTHORIZED: {
    retryable: true,
    help: "The API server did not accept the credentials. Renew the kubeconfig, the token or the client certificate.",
  },
  KUBE_FORBIDDEN: {
    retryable: true,
    help: "The API server denied the request. The message names the account and the missing permission; grant it with a Role or ClusterRole. A create in a namespace that is being deleted is denied, too.",
  },
  KUBE_NOT_FOUND: {
    retryable: true,
    help: "The object, its namespace or its kind does not exist (yet). If it is a kind of this product, install the CRDs.",
  },
  KUBE_CONFLICT: {
    retryable: true,
    help: "Another client changed or created the object at the same time. It is read again and the write is retried.",
  },
  KUBE_GONE: {
    retryable: true,
    help: "The API server no longer has the requested history. Everything is listed again.",
  },
  KUBE_TOO_MANY_REQUESTS: {
    retryable: true,
    help: "The API server asks its clients to slow down. The request is retried after its Retry-After.",
  },
  KUBE_INVALID: {
    retryable: false,
    help: "The API server rejected the content of the request. The message names the field; the same request can never succeed.",
  },
  KUBE_SERVER: {
    retryable: true,
    help: "The API server or one of its webhooks had an internal error. See its logs; the request is retried.",
  },
  KUBE_REQUEST: {
    retryable: false,
    help: "The request could not be built, for example because an object has no name. Please report it.",
  },
  KUBECONFIG_INVALID: {
    retryable: false,
    help: "The kubeconfig cannot be used. The message names the file and the field.",
  },
  KUBE_CREDENTIALS: {
    retryable: true,
    help: "There are no credentials for the API server: a token file could not be read, or the exec plugin of the kubeconfig failed. The message says which and why.",
  },
  RECONCILE_TIMEOUT: {
    retryable: true,
    help: "A reconcile exceeded its timeout and was aborted; it is retried with backoff.",
  },
  LEADERSHIP_LOST: {
    retryable: true,
    help: "This replica of the hub, or this agent, does not hold its Lease any more, so it must not write. Another one continues the work.",
  },
});
