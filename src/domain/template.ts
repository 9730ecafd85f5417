/** Stored templates of messages (docs/templates.md). The language that they are written in has a room of its own. */

/** A template with one of its versions. Times are wall ms. */
export interface Template extends TemplateSummary, TemplateTexts {
  /** Values that it is shown with to those who edit it. */
  readonly sample: TemplateValues;
}

/** A template without its texts. */
export interface TemplateSummary {
  /** `tpl_…`. */
  readonly id: string;
  /** What it is called by in requests: unique, see {@link isAlias}. */
  readonly alias: string;
  /** For people. */
  readonly name: string;
  /** That of the texts; of a summary, the newest. */
  readonly version: number;
  /** The version that is sent; null: none is. */
  readonly publishedVersion: number | null;
  readonly subject: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The texts of a template, or those made from them. */
export interface TemplateTexts {
  readonly subject: string;
  /** Null: there is none. */
  readonly html: string | null;
  /** Null: with HTML, it is made from that. */
  readonly text: string | null;
}

/** What stands for the names in a template, by name. */
export type TemplateValues = Readonly<Record<string, unknown>>;

/** What is known of a version. */
export interface TemplateVersion {
  readonly version: number;
  /** Wall ms. */
  readonly at: number;
  /** Who saved it: a user or a key; empty: the command line. */
  readonly by: string;
  readonly note: string;
}

/** The form of an alias, and the rule for people. It is the name of a folder, too, so it is never `.` or `..`. */
export const ALIAS = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const ALIAS_RULE = 'must be 1 to 64 of a-z 0-9 . _ -, and begin with a letter or digit';

/** Most templates. */
export const MAX_TEMPLATES = 1_000;
/** Versions of one template that are kept: the newest, and always the published one. */
export const MAX_TEMPLATE_VERSIONS = 100;
/** Characters of its HTML, and of its text. */
export const MAX_TEMPLATE_TEXT = 512 * 1024;
/** Characters of its subject. */
export const MAX_TEMPLATE_SUBJECT = 2_000;
/** Characters of its sample as JSON. */
export const MAX_TEMPLATE_SAMPLE = 64 * 1024;
