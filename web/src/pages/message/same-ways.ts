import type { Story } from './timeline.ts';

/** Recipients whose copies take one way. */
interface SameWay {
  readonly rule: string | null;
  readonly group: readonly string[];
  readonly recipients: readonly string[];
}

/** Ways that are alike, each once; the one that most take first. */
export function sameWays(ways: Story['ways']): SameWay[] {
  const found = new Map<string, { rule: string | null; group: readonly string[]; recipients: string[] }>();
  for (const { rule, group, recipient } of ways) {
    const key = JSON.stringify([rule, group]);
    const way = found.get(key) ?? { rule, group, recipients: [] };
    way.recipients.push(recipient);
    found.set(key, way);
  }
  return [...found.values()].sort((one, other) => other.recipients.length - one.recipients.length);
}
