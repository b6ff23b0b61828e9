/** Positions in the changes of one process, as clients have them. Pure. */

export interface Position {
  readonly epoch: string;
  readonly position: number;
}

export function formatPosition(epoch: string, position: number): string {
  return `${epoch}-${position}`;
}

/** Undefined for a text that is none. */
export function parsePosition(text: string): Position | undefined {
  const [, epoch, digits] = /^([0-9a-z]+)-(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, position: Number(digits) };
}
