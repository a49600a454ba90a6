// The driver of a host executable: runs each program of the batch on its part of the input file
// and writes the output memory of all. `programs` is generated.

static u32* buffer(u32 words) { return (u32*)aligned_alloc(256, (words * 4ull + 256) / 256 * 256); }

int main(int argc, char** argv)
{
    if (argc < 3) return 2;
    host_reversed = argc > 3;
    FILE* from = fopen(argv[1], "rb");
    FILE* to = fopen(argv[2], "wb");
    if (!from || !to) return 3;
    for (const HostProgram& p : programs) {
        u32* in = buffer(p.in_words);
        u32* out = buffer(p.out_words);
        if (fread(in, 4, p.in_words, from) != p.in_words) return 4;
        if (fread(out, 4, p.out_words, from) != p.out_words) return 4;
        host_ncta = p.grid;
        host_ntid = p.block;
        // The last line of a run that dies names the program.
        fprintf(stderr, "%s\n", p.name);
        p.run(in, out, p.n);
        if (fwrite(out, 4, p.out_words, to) != p.out_words) return 5;
        free(in);
        free(out);
    }
    return fclose(to) == 0 ? 0 : 5;
}
