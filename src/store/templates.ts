import type {
  Template,
  TemplateSummary,
  TemplateTexts,
  TemplateValues,
  TemplateVersion,
} from '../domain/template.ts';

/**
 * Templates of messages, in versions. Every verb is one transaction; times are wall ms. A template is named by its id or
 * its alias, `which`. Errors are `StoreError`.
 */
export interface Templates {
  /** All templates, by alias. */
  templates(): Promise<TemplateSummary[]>;
  /** A template with the texts of a version, or (null) of the newest one. Null: there is none. */
  template(which: string, version: number | null): Promise<StoredTemplate | null>;
  /** Which version of a template is sent. Null: there is no such template. */
  publishedTemplate(which: string): Promise<PublishedTemplate | null>;
  /**
   * Saves a version, the first one of a new template where `basedOn` is null; that must be the newest one otherwise.
   * Without a difference to it nothing is saved, whatever `basedOn` is: a repeat is harmless. Of old versions those
   * beyond the bound are removed, but for the published one.
   */
  saveTemplate(saved: SavedTemplate, basedOn: number | null, bounds: TemplateBounds): Promise<SavedAs>;
  /** Says which version is sent from now on; null: none. */
  publishTemplate(
    which: string,
    version: number | null,
    now: number,
  ): Promise<'published' | 'no_template' | 'no_version'>;
  /** Removes a template with all its versions. False: there is none. */
  removeTemplate(which: string): Promise<boolean>;
}

/** A template with what is kept of its history, newest first. */
export interface StoredTemplate extends Template {
  readonly versions: readonly TemplateVersion[];
}

/** See {@link Templates.publishedTemplate}. */
export interface PublishedTemplate {
  readonly id: string;
  readonly version: number | null;
}

/** A version to be saved. */
export interface SavedTemplate extends TemplateTexts {
  /** Of the template, if it is new. */
  readonly id: string;
  readonly alias: string;
  readonly name: string;
  readonly sample: TemplateValues;
  readonly at: number;
  readonly by: string;
  readonly note: string;
}

/** Most templates, and versions of one. */
export interface TemplateBounds {
  readonly templates: number;
  readonly versions: number;
}

/** What became of a version: `not_newest`: another one has been saved meanwhile. */
export type SavedAs = 'saved' | 'unchanged' | 'not_newest' | 'too_many';
