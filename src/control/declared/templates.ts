import { z } from 'zod';
import type { Fields, Item } from '../../domain/declared.ts';
import { ALIAS, ALIAS_RULE } from '../../domain/template.ts';
import { OperationError } from '../../operations/call.ts';
import { SAVED_TEMPLATE } from '../../operations/templates.ts';
import { ASKING } from '../door.ts';
import { templateFaults } from '../templates.ts';
import {
  inFile,
  inShape,
  membersOf,
  orFault,
  type PresentTemplate,
  type Section,
  withoutNamesakes,
  withoutUsual,
} from './section.ts';

/**
 * Templates by their aliases: the published version, or the newest one where none is. A draft that is newer than the
 * published version stays out of it.
 */

const { note: _note, basedOn: _basedOn, ...FIELDS } = SAVED_TEMPLATE;
const SHAPE = z.strictObject({
  alias: z.string().regex(ALIAS, ALIAS_RULE),
  ...FIELDS,
  published: z.boolean().default(true),
});
const USUAL = { html: null, text: null, sample: {}, published: true };

/** See above. */
export const TEMPLATES: Section = {
  name: 'templates',
  present: ({ templates }) => templates.map(presentTemplate),
  written: (items) => items.map(({ name, written }) => ({ alias: name, ...written })),
  read: (raw, reading) =>
    withoutNamesakes(
      membersOf(raw, 'templates', reading).flatMap(({ place, fields }) => {
        const given = { ...USUAL, name: fields['alias'], ...fields };
        const read = inShape(given, SHAPE, place, reading);
        if (read === null) return [];
        const item = orFault(place, reading, () => declaredTemplate(read));
        return item === null ? [] : [{ ...item, place }];
      }),
      reading,
    ),
  carryOut: ({ present, wanted }, { world, templates, nextId }) => {
    const alias = (wanted ?? present)?.name ?? '';
    const found = world.templates.find(({ newest }) => newest.alias === alias);
    const before = found === undefined ? null : stateOf(found);
    if (wanted === null) {
      if (before !== null) templates.push({ before, after: null });
      return;
    }
    const { published: isPublished, ...saved } = SHAPE.parse({ ...wanted.fields, alias });
    const by = ASKING.getStore()?.name ?? '';
    const after = { id: before?.id ?? nextId('tpl_'), ...saved, at: world.now, by, note: NOTE, isPublished };
    templates.push({ before, after });
  },
};

/** What the history of a template says of such versions. */
const NOTE = 'Declared in a file.';

function stateOf({ newest: { id, alias, version, publishedVersion } }: PresentTemplate) {
  return { id, alias, version, publishedVersion };
}

function presentTemplate({ newest, published }: PresentTemplate): Item {
  const { subject, html, text, sample } = published ?? newest;
  const { alias, name, version } = newest;
  return itemOf(alias, { name, subject, html, text, sample, published: published !== null }, version);
}

function itemOf(alias: string, all: Fields, state?: unknown): Item {
  const written = inFile(withoutUsual(all, { ...USUAL, name: alias }));
  return { name: alias, fields: inFile(all), written, secrets: {}, state };
}

function declaredTemplate({ alias, ...all }: z.output<typeof SHAPE>): Item {
  const faults = templateFaults(all).map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  if (/^tpl_/.test(alias)) faults.push('alias: Must not look like an id.');
  if (faults.length > 0) throw new OperationError('invalid', faults.join('\n'));
  return itemOf(alias, all);
}
