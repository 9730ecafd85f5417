/** The seeds that the environment asks for, such as `WAYBILL_SEEDS=1000-1999`, or else these. */
export function seedsOr(range: string): number[] {
  const found = /^(\d+)-(\d+)$/.exec(process.env['WAYBILL_SEEDS'] ?? range);
  if (!found) throw new Error('WAYBILL_SEEDS must look like 1-100');
  const first = Number(found[1]);
  return Array.from({ length: Number(found[2]) - first + 1 }, (_, place) => first + place);
}
