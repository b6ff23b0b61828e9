/**
 * The codes of the hub's own errors by which the page decides. The hub's catalogue must have each of them, which its type says; those of
 * charts the page has from the catalogue itself.
 */
export type HubErrorCode = "HELM_SECRET_UNUSABLE" | "POLICY_VIOLATION";
