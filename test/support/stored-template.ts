/** Templates that are there before a test begins. */
import { expect } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import type { Templates } from '../../src/store/templates.ts';

const nextId = createIdSource(systemClock, seededRandom(13), 'tpl_');
const BOUNDS = { templates: 100, versions: 100 };

/** Saves a version of a template, and publishes it. Returns the template's id. */
export async function storeTemplate(
  { stores: { templates } }: { readonly stores: { readonly templates: Templates } },
  alias: string,
  texts: { readonly subject?: string; readonly html?: string; readonly text?: string },
): Promise<string> {
  const newest = await templates.template(alias, null);
  const whole = { subject: '', html: null, text: null, ...texts, sample: {} };
  const saved = { id: nextId(), alias, name: alias, ...whole, at: 0, by: '', note: '' };
  expect(await templates.saveTemplate(saved, newest?.version ?? null, BOUNDS)).toBe('saved');
  await templates.publishTemplate(alias, (newest?.version ?? 0) + 1, 0);
  return newest?.id ?? saved.id;
}
