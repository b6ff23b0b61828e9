/**
 * Which of two resource versions of one kind is the later one. They are positive integers that only grow, of any length
 * (Kubernetes 1.35, KEP-5504: comparable resource versions; earlier API servers count in the same way).
 */
const wellFormed = /^[1-9][0-9]*$/;

/** Whether `one` came after `other`. Every version is after none at all; what is no integer is neither before nor after. */
export function isLaterVersion(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || !wellFormed.test(one)) return false;
  if (other === undefined) return true;
  if (!wellFormed.test(other)) return false;
  return one.length === other.length ? one > other : one.length > other.length;
}
