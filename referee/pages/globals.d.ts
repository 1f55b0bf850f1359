// What the loader of viewer.html shares with the scripts around it.

declare function viewer(): void;
declare var replay: (key: string, data: string, found?: object) => void;
declare var trustedTypes: { createPolicy<Rules extends object>(name: string, rules: Rules): { [Name in keyof Rules]: (text: string) => any } } | undefined;
