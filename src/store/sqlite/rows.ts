/** The column form of a boolean. */
export function asFlag(value: boolean): number {
  return value ? 1 : 0;
}
