import type { UseMutationResult } from '@tanstack/react-query';
import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import type { OperationName, RequestOf, ResultOf } from '../../../src/operations/table.ts';
import { type Faults, faultsOf } from '../faults.ts';
import { type ActOptions, useAct } from '../queries.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Banner } from './states.tsx';

/** A form while it is filled in. */
export interface FormInHand<Values> {
  readonly values: Values;
  /** Two fields may change before the form is drawn again: one is left, and another filled in. */
  readonly put: (part: Partial<Values> | ((before: Values) => Partial<Values>)) => void;
  /** What a field shows, what changes it, and what is wrong with it. */
  readonly field: <Name extends keyof Values & string>(
    name: Name,
  ) => {
    readonly value: Values[Name];
    readonly onChange: (value: Values[Name]) => void;
    readonly error: string | undefined;
  };
  /** What is wrong, by field. */
  readonly faults: Readonly<Record<string, string>>;
}

/** See {@link Form}. */
export interface FormProps<Values, Request> {
  /** What its fields hold at first. Faults stand at the fields of these names. */
  readonly initial: Values;
  /** What is asked for, as the form is filled in; null sends nothing. */
  readonly request: (values: Values) => Request | null;
  /** What is wrong by itself, by field. Nothing is sent while something is, and it is shown from the first try on. */
  readonly check?: (values: Values) => Readonly<Record<string, string | null | undefined>>;
  /** Sorts what the server refused by the fields; by default as {@link faultsOf} does. */
  readonly sort?: (error: Error | null, values: Values) => Faults;
  /** What its buttons say. */
  readonly submit: string;
  readonly cancel?: string;
  readonly look?: 'primary' | 'plain' | 'danger';
  /** The button is as wide as the form. */
  readonly wide?: boolean;
  readonly disabled?: (values: Values) => boolean;
  /** A field that is emptied when it was refused. */
  readonly forgets?: keyof Values;
  /** Adds the button that leaves everything as it is. */
  readonly onClose?: () => void;
  readonly className?: string;
  /** Shows it in a dialog, or in a drawer, with its buttons at the foot. */
  readonly sheet?: Pick<ComponentProps<typeof Dialog>, 'kind' | 'size' | 'title' | 'description'>;
  /** Or else how form and buttons are put together; by default one below the other. */
  readonly layout?: (form: ReactNode, buttons: ReactNode, hand: FormInHand<Values>) => ReactNode;
  /** `check` says what is wrong, and the browser does not. */
  readonly noValidate?: boolean;
  /** The fields. */
  readonly children: (form: FormInHand<Values>) => ReactNode;
}

/**
 * A form that asks for one act. It holds what is filled in, shows what is wrong at the fields and the rest below them,
 * goes to the first field that is wrong, and cannot be sent twice.
 */
export function Form<Values extends object, Request, Result>({
  act,
  initial,
  request,
  check = () => ({}),
  sort = (error) => faultsOf(error, Object.keys(initial)),
  submit,
  cancel = 'Cancel',
  look = 'primary',
  wide = false,
  disabled = () => false,
  forgets,
  onClose,
  className = 'space-y-4',
  sheet,
  layout,
  noValidate = false,
  children,
}: FormProps<Values, Request> & {
  readonly act: Pick<UseMutationResult<Result, Error, Request>, 'mutate' | 'error' | 'isPending'>;
}) {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState(initial);
  const [tried, setTried] = useState(false);
  const found = Object.fromEntries(Object.entries(check(values)).filter(isFault));
  const refused = sort(act.error, values);
  const faults = { ...refused.fields, ...(tried && found) };
  const put: FormInHand<Values>['put'] = (part) =>
    setValues((before) => ({ ...before, ...(typeof part === 'function' ? part(before) : part) }));
  const goToFault = () => element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another refusal moves the focus, and empties the field
  useEffect(() => {
    if (act.error === null) return;
    if (forgets !== undefined) put({ [forgets]: initial[forgets] } as unknown as Partial<Values>);
    goToFault();
  }, [act.error]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    const isWhole = Object.keys(found).length === 0;
    const asked = isWhole ? request(values) : null;
    if (asked !== null) act.mutate(asked);
    setTried(true);
    // Once it is marked.
    if (!isWhole) requestAnimationFrame(goToFault);
  };
  const hand = { values, put, faults, field: fieldsOf(values, faults, put) };
  const form = (
    <form ref={element} id={id} onSubmit={send} noValidate={noValidate} className={className}>
      {children(hand)}
      <FormError>{refused.rest}</FormError>
    </form>
  );
  const buttons = (
    <>
      {onClose && <Button label={cancel} onClick={onClose} />}
      <Button
        label={submit}
        type="submit"
        form={id}
        look={look}
        busy={act.isPending}
        disabled={disabled(values)}
        {...(wide && { className: 'w-full' })}
      />
    </>
  );
  if (layout) return layout(form, buttons, hand);
  if (sheet)
    return (
      <Dialog {...sheet} onClose={onClose} footer={buttons}>
        {form}
      </Dialog>
    );
  return (
    <div className="space-y-4">
      {form}
      {onClose ? <div className="flex flex-wrap justify-end gap-2">{buttons}</div> : buttons}
    </div>
  );
}

/** What binds the fields of a form to its values and faults. */
export function fieldsOf<Values extends object>(
  values: Values,
  faults: Readonly<Record<string, string>>,
  put: (part: Partial<Values>) => void,
): FormInHand<Values>['field'] {
  return (name) => ({
    value: values[name],
    // Sound because a value that is put has the type of its field.
    onChange: (value) => put({ [name]: value } as unknown as Partial<Values>),
    error: faults[name],
  });
}

function isFault(entry: [string, string | null | undefined]): entry is [string, string] {
  return entry[1] != null;
}

/** A {@link Form} that asks for an operation. */
export function ActionForm<Name extends OperationName, Values extends object>({
  operation,
  done,
  onDone,
  ...form
}: FormProps<Values, RequestOf<Name>> &
  Omit<ActOptions<ResultOf<Name>>, 'quiet'> & { readonly operation: Name }) {
  const act = useAct(operation, { quiet: true, done, onDone });
  return <Form act={act} {...form} />;
}

/** What is wrong with a form as a whole; above its buttons. Shows nothing where nothing is. */
export function FormError({ children }: { readonly children: string | null | undefined }) {
  if (children == null) return null;
  return (
    <Banner level="critical">
      <span className="whitespace-pre-line">{children}</span>
    </Banner>
  );
}
