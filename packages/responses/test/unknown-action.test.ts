import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest, parseToolError, unknownAction } from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';

describe('an unknown action', () => {
  const actions = ['projects.list', 'projects.get', 'projects.create', 'users.invite'];

  test.each([
    ['projects.lst', 'projects.list'],
    ['list_projects', 'projects.list'],
    ['list_project', 'projects.list'],
    ['PROJECTS-GET', 'projects.get'],
    ['projectsCreate', 'projects.create'],
    ['user.invite', 'users.invite'],
    ['projcets.list', 'projects.list'],
  ])('%s is answered with %s', (given, meant) => {
    const parsed = parseToolError(unknownAction(given, actions))!;
    expect(parsed.code).toBe('UNKNOWN_ACTION');
    expect(parsed.message).toContain(given);
    expect(parsed.suggestion).toContain(`Did you mean "${meant}"?`);
    expect(parsed.availableActions[0]).toBe(meant);
    expect([...parsed.availableActions].sort()).toEqual([...actions].sort());
  });

  test('that is like none gets the list, and no guess', () => {
    const parsed = parseToolError(unknownAction('frobnicate', actions))!;
    expect(parsed.suggestion).toBe('Use one of the available actions, by exactly its name.');
    expect(parsed.availableActions).toEqual(actions);
    expect(parseToolError(unknownAction('x', []))!.suggestion).toContain('No action is available');
  });

  test('among thousands names the nearest and says how many there are', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `action.number${index}`);
    const parsed = parseToolError(unknownAction('action.numbr4321', many))!;
    expect(parsed.availableActions[0]).toBe('action.number4321');
    expect(parsed.availableActions).toHaveLength(30);
    expect(parsed.details).toEqual({ actions_in_all: '5000' });
  });

  test('may be any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'binary' })), (action, available) => {
        expectAcceptedByBothSdks(unknownAction(action, available));
      }),
    );
    expectAcceptedByBothSdks(unknownAction('x'.repeat(10_000_000), actions));
    expectAcceptedByBothSdks(unknownAction(undefined as never, actions));
  });
});

test('a name is nearest to itself, and one slip away from it', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 10 }), fc.nat(), (name, others, at) => {
      expect(nearest(name, [...others, name])).toBe(name);
      const slip = name.slice(0, at % name.length) + name.slice((at % name.length) + 1);
      expect(nearest(slip, [name])).toBe(name);
    }),
  );
});
