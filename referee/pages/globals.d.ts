// What the loader of viewer.html shares with the scripts around it, and the page of pictures with the command that takes them.

declare function viewer(): void;
declare var replay: (key: string, data: string, found?: object) => void;
declare var stills: { begin: (last: number, size: number) => Promise<string>; draw: (turn: number) => string };
declare var trustedTypes: { createPolicy<Rules extends object>(name: string, rules: Rules): { [Name in keyof Rules]: (text: string) => any } } | undefined;
