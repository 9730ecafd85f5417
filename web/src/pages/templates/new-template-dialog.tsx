import { Select } from '../../parts/choice.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { aliasOf, STARTERS, type Starter, type StarterName } from './starters.ts';

/** What is wrong with an alias. */
function aliasFault(alias: string, taken: readonly string[]): string | null {
  if (alias === '') return 'Enter an alias.';
  if (taken.includes(alias)) return 'Another template has this alias.';
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(alias)
    ? null
    : 'Begin with a letter or digit; use up to 64 of a-z, 0-9, dot, hyphen and underscore.';
}

const CHOICES = [
  { value: 'code', label: 'A code to sign in', note: 'One large value in one column, with dark mode' },
  { value: 'list', label: 'An order', note: 'Repeated lines, and a part that is shown only sometimes' },
  { value: 'letter', label: 'A bare letter', note: 'One line to begin with' },
] as const;

/** Makes a template, and saves its first version. With `copy` it begins as another one. */
export function NewTemplateDialog({
  copy,
  taken,
  onClose,
  onAdded,
}: {
  readonly copy?: Starter & { readonly name: string; readonly text: string | null };
  /** Aliases that others have. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onAdded: (alias: string) => void;
}) {
  const first = copy === undefined ? '' : `${copy.name}, copy`;
  return (
    <ActionForm
      operation="saveTemplate"
      sheet={{
        title: copy === undefined ? 'New template' : 'Duplicate the template',
        description: 'Nothing is sent with it until you publish it.',
      }}
      initial={{ name: first, alias: null as string | null, starter: 'code' as StarterName }}
      check={({ name, alias }) => ({
        name: name.trim() === '' ? 'Enter a name.' : null,
        alias: aliasFault(alias ?? aliasOf(name), taken),
      })}
      request={({ name, alias, starter }) => {
        const { subject, html, sample } = copy ?? STARTERS[starter];
        return {
          alias: alias ?? aliasOf(name),
          name: name.trim(),
          subject,
          html,
          text: copy?.text ?? null,
          sample,
          note: '',
          basedOn: null,
        };
      }}
      onDone={({ alias }) => {
        onClose();
        onAdded(alias);
      }}
      submit="Create template"
      onClose={onClose}
      noValidate
    >
      {({ values, field }) => (
        <>
          <TextField
            label="Name"
            hint="For the people who edit it."
            placeholder="Sign-in code"
            {...field('name')}
          />
          <TextField
            label="Alias"
            hint="The name that applications use. It cannot be changed later."
            placeholder="sign-in-code"
            mono
            verbatim
            {...field('alias')}
            value={values.alias ?? aliasOf(values.name)}
          />
          {copy === undefined && <Select label="Begin with" choices={CHOICES} {...field('starter')} />}
        </>
      )}
    </ActionForm>
  );
}
