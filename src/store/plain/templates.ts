import type {
  TemplateSummary,
  TemplateTexts,
  TemplateValues,
  TemplateVersion,
} from '../../domain/template.ts';
import { fromJson } from '../columns.ts';
import type { SavedTemplate, Templates } from '../templates.ts';
import { Columns, onPostgres, type Sql, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** Templates and their versions, as rows. */

interface TemplateRow {
  readonly id: string;
  readonly alias: string;
  readonly name: string;
  readonly version: number;
  readonly publishedVersion: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const TEMPLATE = new Columns<TemplateRow>({
  id: sql`id`,
  alias: sql`alias`,
  name: sql`name`,
  version: sql`version`,
  publishedVersion: sql`published_version`,
  createdAt: sql`created_at`,
  updatedAt: sql`updated_at`,
});

interface VersionRow {
  readonly template: string;
  readonly version: number;
  readonly at: number;
  readonly by: string;
  readonly note: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly sample: string;
}

const VERSION = new Columns<VersionRow>({
  template: sql`template`,
  version: sql`version`,
  at: sql`at`,
  by: sql`author`,
  note: sql`note`,
  subject: sql`subject`,
  html: sql`html`,
  text: sql`text`,
  sample: sql`sample`,
});

/** See {@link Templates}. */
export const TEMPLATES: Subject<Templates> = {
  reads: { templates: 'statement', template: 'snapshot', publishedTemplate: 'statement' },
  verbs: {
    templates: () =>
      rows<TemplateSummary>`SELECT id, alias, name, templates.version AS version,
          published_version AS "publishedVersion", subject, created_at AS "createdAt", updated_at AS "updatedAt"
        FROM templates JOIN template_versions AS versions
          ON versions.template = templates.id AND versions.version = templates.version
        ORDER BY alias`,
    *template(which, version) {
      const row = yield* templateOf(which);
      if (row === null) return null;
      const shown = yield* versionOf(row.id, version ?? row.version);
      if (shown === null) return null;
      const versions = yield* rows<TemplateVersion>`SELECT version, at, author AS "by", note
        FROM template_versions WHERE template = ${row.id} ORDER BY version DESC`;
      const { subject, html, text } = shown;
      const sample = fromJson<TemplateValues>(shown.sample);
      return { ...row, version: shown.version, subject, html, text, sample, versions };
    },
    *publishedTemplate(which) {
      const [row] = yield* rows<{
        id: string;
        version: number | null;
      }>`SELECT id, published_version AS version
        FROM templates WHERE ${named(which)}`;
      return row ?? null;
    },
    *saveTemplate(saved, basedOn, bounds) {
      yield* alone(sql`templates`);
      const former = yield* templateOf(saved.alias);
      if (former === null) {
        if (basedOn !== null) return 'not_newest';
        const [count] = yield* rows<{ all: number }>`SELECT count(*) AS "all" FROM templates`;
        if ((count?.all ?? 0) >= bounds.templates) return 'too_many';
        yield* add(saved);
        return 'saved';
      }
      const newest = yield* versionOf(former.id, former.version);
      // So a repeat of what was saved is harmless, whatever it was based on.
      if (newest !== null && former.name === saved.name && isSameVersion(newest, saved)) return 'unchanged';
      if (basedOn !== former.version) return 'not_newest';
      const version = former.version + 1;
      yield* addVersion(former.id, version, saved);
      yield* send`UPDATE templates SET name = ${saved.name}, version = ${version}, updated_at = ${saved.at}
        WHERE id = ${former.id}`;
      yield* send`DELETE FROM template_versions WHERE template = ${former.id}
        AND version <= ${version - bounds.versions} AND version <> ${former.publishedVersion ?? 0}`;
      return 'saved';
    },
    *publishTemplate(which, version, now) {
      const [row] = yield* rows<{ id: string }>`SELECT id FROM templates WHERE ${named(which)}
        ${onPostgres(sql`FOR UPDATE`)}`;
      if (row === undefined) return 'no_template';
      if (version !== null && (yield* versionOf(row.id, version)) === null) return 'no_version';
      yield* send`UPDATE templates SET published_version = ${version}, updated_at = ${now} WHERE id = ${row.id}`;
      return 'published';
    },
    *removeTemplate(which) {
      // So that no version is saved meanwhile, and left without its template.
      yield* alone(sql`templates`);
      yield* send`DELETE FROM template_versions
        WHERE template IN (SELECT id FROM templates WHERE ${named(which)})`;
      return (yield* run`DELETE FROM templates WHERE ${named(which)}`) > 0;
    },
  },
};

/** No alias has the form of an id. */
function named(which: string): Sql {
  return sql`(alias = ${which} OR id = ${which})`;
}

function* templateOf(which: string): Work<TemplateRow | null> {
  const [row] = yield* rows<TemplateRow>`SELECT ${TEMPLATE.selected} FROM templates WHERE ${named(which)}`;
  return row ?? null;
}

function* versionOf(id: string, version: number): Work<VersionRow | null> {
  const [row] = yield* rows<VersionRow>`SELECT ${VERSION.selected} FROM template_versions
    WHERE template = ${id} AND version = ${version}`;
  return row ?? null;
}

function* add(saved: SavedTemplate): Work<void> {
  const { id, alias, name, at } = saved;
  const row = { id, alias, name, version: 1, publishedVersion: null, createdAt: at, updatedAt: at };
  yield* send`INSERT INTO templates (${TEMPLATE.names}) VALUES (${TEMPLATE.values(row)})`;
  yield* addVersion(id, 1, saved);
}

function addVersion(template: string, version: number, saved: SavedTemplate): Work<void> {
  const { at, by, note, subject, html, text } = saved;
  const sample = JSON.stringify(saved.sample);
  const row = { template, version, at, by, note, subject, html, text, sample };
  return send`INSERT INTO template_versions (${VERSION.names}) VALUES (${VERSION.values(row)})`;
}

function isSameVersion(row: VersionRow, saved: TemplateTexts & Pick<SavedTemplate, 'sample'>): boolean {
  return (
    row.subject === saved.subject &&
    row.html === saved.html &&
    row.text === saved.text &&
    row.sample === JSON.stringify(saved.sample)
  );
}
