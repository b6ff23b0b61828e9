/**
 * The codes of the hub's own errors by which the page decides. The hub's catalogue must have each of them, which its type says.
 * The page has the codes of charts from their catalogue.
 */
export type HubErrorCode = "HELM_SECRET_UNUSABLE" | "POLICY_VIOLATION";
