import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { SavedTemplate } from '../../../src/store/templates.ts';
import { type OpenSubject, type Subject, T0 } from './fixtures.ts';

const nextId = createIdSource({ wall: () => T0 }, seededRandom(7), 'tpl_');
const BOUNDS = { templates: 3, versions: 4 };

/** A version of the template `welcome`, saved at `T0`. */
function saved(change: Partial<SavedTemplate> = {}): SavedTemplate {
  return {
    id: nextId(),
    alias: 'welcome',
    name: 'Welcome',
    subject: 'Hello {{name}}',
    html: '<p>Hello {{name}}</p>',
    text: null,
    sample: { name: 'Ann', list: [{ a: 1 }, null] },
    at: T0,
    by: 'ops',
    note: 'The first.',
    ...change,
  };
}

/** Templates in versions, of which one is published. */
export function templateContract(open: OpenSubject): void {
  describe('templates', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const save = (one: SavedTemplate, basedOn: number | null) =>
      subject.templates.saveTemplate(one, basedOn, BOUNDS);
    const versions = async () =>
      (await subject.templates.template('welcome', null))?.versions.map(({ version }) => version);

    it('are kept as they are, over a restart, and found by alias and by id', async () => {
      const first = saved();
      expect(await save(first, null)).toBe('saved');
      subject = await subject.reopen();
      const { by, at, note, ...rest } = first;
      const whole = {
        ...rest,
        version: 1,
        publishedVersion: null,
        createdAt: T0,
        updatedAt: T0,
        versions: [{ version: 1, at, by, note }],
      };
      expect(await subject.templates.template('welcome', null)).toEqual(whole);
      expect(await subject.templates.template(first.id, 1)).toEqual(whole);
      expect(await subject.templates.template('welcome', 2)).toBeNull();
      expect(await subject.templates.template('other', null)).toBeNull();
    });

    it('are listed by alias, with what their newest version says', async () => {
      await save(saved({ alias: 'b' }), null);
      await save(saved({ alias: 'a' }), null);
      await save(saved({ alias: 'b', name: 'B', subject: 'Anew', at: T0 + 5 }), 1);
      expect(await subject.templates.templates()).toMatchObject([
        { alias: 'a', version: 1, subject: 'Hello {{name}}' },
        { alias: 'b', name: 'B', version: 2, subject: 'Anew', createdAt: T0, updatedAt: T0 + 5 },
      ]);
    });

    it('are saved anew only over their newest version, and only with a difference', async () => {
      expect(await save(saved(), 1)).toBe('not_newest');
      await save(saved(), null);
      expect(await save(saved({ subject: 'x' }), null)).toBe('not_newest');
      for (const basedOn of [1, null])
        expect(await save(saved({ note: 'another', by: 'b', at: T0 + 9 }), basedOn)).toBe('unchanged');
      for (const [place, change] of [
        { name: 'x' },
        { subject: 'x' },
        { html: null, text: 'x' },
        { sample: {} },
      ].entries())
        expect(await save(saved({ ...change }), place + 1)).toBe('saved');
      expect(await save(saved(), 1)).toBe('not_newest');
      expect(await subject.templates.template('welcome', 2)).toMatchObject({
        version: 2,
        subject: 'Hello {{name}}',
      });
    });

    it('keep so many versions, and the published one always', async () => {
      await save(saved(), null);
      expect(await subject.templates.publishTemplate('welcome', 1, T0)).toBe('published');
      for (let version = 1; version < 7; version++) await save(saved({ subject: `${version}` }), version);
      expect(await versions()).toEqual([7, 6, 5, 4, 1]);
      expect(await subject.templates.publishTemplate('welcome', 3, T0)).toBe('no_version');
      await subject.templates.publishTemplate('welcome', 7, T0);
      await save(saved({ subject: 'last' }), 7);
      expect(await versions()).toEqual([8, 7, 6, 5]);
    });

    it('have one version that is sent, or none', async () => {
      const first = saved();
      await save(first, null);
      const { templates } = subject;
      expect(await templates.publishedTemplate('welcome')).toEqual({ id: first.id, version: null });
      expect(await templates.publishTemplate('welcome', 1, T0 + 7)).toBe('published');
      await save(saved({ subject: 'not yet' }), 1);
      for (const which of ['welcome', first.id])
        expect(await templates.publishedTemplate(which)).toEqual({ id: first.id, version: 1 });
      expect(await templates.template('welcome', null)).toMatchObject({ version: 2, publishedVersion: 1 });
      await templates.publishTemplate(first.id, null, T0);
      expect(await templates.publishedTemplate('welcome')).toEqual({ id: first.id, version: null });
      expect(await templates.publishedTemplate('other')).toBeNull();
      expect(await templates.publishTemplate('other', 1, T0)).toBe('no_template');
    });

    it('are no more than allowed', async () => {
      for (const alias of ['a', 'b', 'c']) expect(await save(saved({ alias }), null)).toBe('saved');
      expect(await save(saved({ alias: 'd' }), null)).toBe('too_many');
      expect(await save(saved({ alias: 'a', subject: 'x' }), 1)).toBe('saved');
    });

    it('are removed with all their versions', async () => {
      await save(saved(), null);
      await save(saved({ subject: 'x' }), 1);
      expect(await subject.templates.removeTemplate('welcome')).toBe(true);
      expect(await subject.templates.removeTemplate('welcome')).toBe(false);
      expect(await subject.templates.templates()).toEqual([]);
      const anew = saved();
      await save(anew, null);
      expect(await versions()).toEqual([1]);
      expect(await subject.templates.removeTemplate(anew.id)).toBe(true);
    });
  });
}
